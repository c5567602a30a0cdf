"""Functions that a checked statement may call: they compute, and do nothing else.

They are listed by the names that the database has for them. A function that is not listed is refused, be it new, of
an extension or of the user. Left out on purpose: what waits (`pg_sleep`), locks, signals, notifies, counts
(`nextval`), reads files or settings, runs text as SQL (`query_to_xml`, `ts_stat`, `dblink`, `query`), or makes a
large value of a small one (`repeat`, `zeroblob`); `sizes.py` limits those of the lists that can.

"""

from __future__ import annotations

COMMON = """
    abs ceil ceiling floor round sign sqrt exp ln log log10 log2 power pow mod pi degrees radians
    sin cos tan cot asin acos atan atan2
    count sum avg min max stddev stddev_pop stddev_samp variance var_pop var_samp bit_and bit_or bit_xor
    row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value
    coalesce nullif greatest least
    lower upper length char_length character_length octet_length bit_length substring substr left right trim ltrim
    rtrim lpad rpad replace reverse concat concat_ws position ascii format md5 sha1 sha2 strpos instr translate
    regexp_replace regexp_substr regexp_instr regexp_like
    cast convert extract now current_date current_time current_timestamp localtime localtimestamp
    json_extract json_value json_query json_exists json_array json_object json_arrayagg json_objectagg
"""
POSTGRESQL = f"""{COMMON}
    cbrt div trunc random width_bucket factorial gcd lcm scale min_scale trim_scale sind cosd tand sinh cosh tanh
    array_agg string_agg bool_and bool_or every json_agg jsonb_agg json_object_agg jsonb_object_agg any_value
    range_agg corr covar_pop covar_samp regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx
    regr_sxy regr_syy mode percentile_cont percentile_disc grouping
    btrim chr initcap quote_literal quote_ident split_part starts_with string_to_array string_to_table
    regexp_match regexp_matches regexp_count regexp_split_to_array regexp_split_to_table overlay encode decode
    unicode_assigned normalize sha224 sha256 sha384 sha512 to_hex unistr
    to_char to_date to_number to_timestamp date_part date_trunc date_bin age make_date make_time make_timestamp
    make_timestamptz make_interval justify_days justify_hours justify_interval isfinite clock_timestamp
    statement_timestamp transaction_timestamp timezone date_add date_subtract
    array_append array_cat array_dims array_length array_lower array_ndims array_position array_positions
    array_prepend array_remove array_replace array_to_string array_upper cardinality unnest generate_series
    generate_subscripts trim_array
    to_json to_jsonb row_to_json array_to_json json_build_array json_build_object jsonb_build_array
    jsonb_build_object json_array_elements jsonb_array_elements json_array_elements_text jsonb_array_elements_text
    json_array_length jsonb_array_length json_each jsonb_each json_each_text jsonb_each_text json_extract_path
    jsonb_extract_path json_extract_path_text jsonb_extract_path_text json_object_keys jsonb_object_keys
    json_typeof jsonb_typeof json_strip_nulls jsonb_strip_nulls jsonb_path_query jsonb_path_query_array
    jsonb_path_query_first jsonb_path_exists jsonb_path_match jsonb_set jsonb_insert jsonb_pretty json_to_record
    jsonb_to_record json_to_recordset jsonb_to_recordset
    to_tsvector to_tsquery plainto_tsquery phraseto_tsquery websearch_to_tsquery ts_rank ts_rank_cd ts_headline
    setweight numnode querytree tsvector_to_array
    lower_inc upper_inc isempty int4range int8range numrange daterange tsrange tstzrange
    pg_typeof gen_random_uuid num_nulls num_nonnulls overlaps
"""
MYSQL = f"""{COMMON}
    bin oct hex unhex conv crc32 truncate rand div std group_concat json_type json_valid json_keys json_length
    json_contains json_contains_path json_search json_unquote json_quote json_depth json_pretty json_compact
    json_detailed json_merge_patch json_merge_preserve json_set json_insert json_replace json_remove any_value
    if ifnull nvl nvl2 isnull interval elt field find_in_set make_set export_set
    lcase ucase mid locate char ord quote soundex space strcmp substring_index to_base64 from_base64 insert
    uuid inet_aton inet_ntoa inet6_aton inet6_ntoa is_ipv4 is_ipv6 bit_count median percentile_cont percentile_disc
    adddate addtime curdate curtime date datediff date_add date_format date_sub day dayname dayofmonth dayofweek
    dayofyear from_days from_unixtime get_format hour last_day makedate maketime microsecond minute month monthname
    period_add period_diff quarter sec_to_time second str_to_date subdate subtime sysdate time time_format
    time_to_sec timediff timestamp timestampadd timestampdiff to_days to_seconds unix_timestamp utc_date utc_time
    utc_timestamp week weekday weekofyear year yearweek convert_tz match against add_months to_char
"""
SQLITE = f"""{COMMON}
    acosh asinh atanh cosh sinh tanh char glob group_concat hex iif ifnull julianday like likely likelihood unlikely
    printf quote random soundex string_agg strftime substr timediff total trunc typeof unhex unicode unixepoch date
    time datetime json json_array_length json_each json_error_position json_group_array json_group_object
    json_insert json_patch json_pretty json_quote json_remove json_replace json_set json_tree json_type json_valid
    octet_length concat concat_ws median percentile percentile_cont percentile_disc subtype
"""
DUCKDB = f"""{COMMON}
    acosh asinh atanh cosh sinh tanh cbrt even exp factorial fdiv fmod gamma gcd greatest_common_divisor isfinite
    isinf isnan lcm least_common_multiple lgamma nextafter radians random round_even roundbankers signbit trunc xor
    bit_count any_value approx_count_distinct approx_quantile approx_top_k arbitrary arg_max arg_max_null arg_min
    arg_min_null argmax argmin array_agg bool_and bool_or corr count_if count_star countif covar_pop covar_samp
    entropy favg first fsum geomean geometric_mean group_concat histogram kahan_sum kurtosis kurtosis_pop last list
    listagg mad max_by mean median min_by mode product quantile quantile_cont quantile_disc regr_avgx regr_avgy
    regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy reservoir_quantile sem skewness
    string_agg sumkahan wavg weighted_avg percentile_cont percentile_disc grouping grouping_id fill age century
    date_add date_diff date_part date_sub date_trunc datediff datepart datesub datetrunc day dayname dayofmonth
    dayofweek dayofyear days_in_month decade epoch epoch_ms epoch_ns epoch_us era hour isodow isoyear julian
    last_day make_date make_time make_timestamp make_timestamptz microsecond millennium millisecond minute month
    monthname nanosecond quarter second strftime strptime time_bucket timezone timezone_hour timezone_minute
    to_centuries to_days to_decades to_hours to_microseconds to_millennia to_milliseconds to_minutes to_months
    to_quarters to_seconds to_timestamp to_weeks to_years today try_strptime week weekday weekofyear year yearweek
    get_current_timestamp current_localtime current_localtimestamp transaction_timestamp bin chr contains
    damerau_levenshtein editdist3 ends_with from_base64 base64 to_base64 hamming hash hex ilike_escape jaccard
    jaro_similarity jaro_winkler_similarity lcase left_grapheme len length_grapheme levenshtein like_escape
    mismatches nfc_normalize not_ilike_escape not_like_escape ord parse_dirname parse_dirpath parse_filename
    parse_path prefix printf regexp_escape regexp_extract regexp_extract_all regexp_full_match regexp_matches
    regexp_split_to_array right_grapheme sha256 split split_part starts_with str_split str_split_regex string_split
    string_split_regex string_to_array strip_accents strlen suffix to_hex ucase unhex unicode url_decode url_encode
    format_bytes uuid gen_random_uuid aggregate apply array_aggregate array_append array_apply array_cat
    array_concat array_contains array_distinct array_extract array_filter array_has array_has_all array_has_any
    array_indexof array_intersect array_length array_position array_prepend array_reduce array_reverse
    array_reverse_sort array_slice array_sort array_to_string array_transform array_unique array_value array_where
    array_zip cardinality element_at flatten list_aggregate list_any_value list_append list_apply list_avg
    list_concat list_contains list_count list_distinct list_element list_extract list_filter list_first list_has
    list_has_all list_has_any list_histogram list_indexof list_intersect list_last list_max list_median list_min
    list_mode list_pack list_position list_prepend list_product list_reduce list_reverse list_reverse_sort
    list_select list_slice list_sort list_stddev_samp list_string_agg list_sum list_transform list_unique list_value
    list_var_samp list_where list_zip range generate_series unnest map map_concat map_contains map_entries
    map_extract map_from_entries map_keys map_values row struct_extract struct_insert struct_pack struct_keys
    struct_values json_array_length json_contains json_extract_path json_extract_path_text json_extract_string
    json_keys json_structure json_type json_valid from_json to_json row_to_json array_to_json json_group_array
    json_group_object if ifnull nvl error typeof pg_typeof enum_code enum_first enum_last enum_range columns exclude
    replace rename try_cast try pivot unpivot
"""
SPARK = f"""{COMMON}
    cbrt rint bround hypot expm1 log1p pmod sinh cosh tanh signum factorial width_bucket rand randn div negative
    positive try_add try_subtract try_multiply try_divide bin hex unhex conv shiftleft shiftright bit_count
    any_value any bool_and bool_or every some approx_count_distinct approx_percentile percentile percentile_approx
    percentile_cont percentile_disc median mode mean std corr covar_pop covar_samp kurtosis skewness count_if
    first last max_by min_by collect_list collect_set array_agg listagg string_agg grouping grouping_id regr_avgx
    regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy try_avg try_sum
    if ifnull nvl nvl2 isnull isnotnull isnan nanvl nullifzero zeroifnull equal_null decode try_cast try_mod printf
    format_string
    lcase ucase len char chr btrim initcap locate charindex contains startswith endswith split split_part
    substring_index overlay levenshtein soundex sentences regexp regexp_count regexp_extract regexp_extract_all
    rlike to_char to_varchar to_number try_to_number base64 unbase64 encode url_encode url_decode sha crc32 hash
    xxhash64 elt find_in_set typeof uuid luhn_check mask string boolean binary
    date_add dateadd date_sub date_diff datediff date_format date_from_unix_date date_part datepart date_trunc trunc
    day dayname dayofmonth dayofweek dayofyear hour last_day make_date make_timestamp make_dt_interval make_interval
    make_ym_interval minute month monthname months_between add_months next_day quarter second timestamp_micros
    timestamp_millis timestamp_seconds timestampadd timestampdiff to_date to_timestamp to_unix_timestamp
    to_utc_timestamp from_utc_timestamp from_unixtime try_to_date try_to_timestamp unix_date unix_micros unix_millis
    unix_seconds unix_timestamp weekday weekofyear year session_window window_time curdate convert_timezone
    to_timestamp_ntz to_timestamp_ltz make_timestamp_ntz make_timestamp_ltz sequence
    array array_append array_compact array_contains array_distinct array_except array_insert array_intersect
    array_join array_max array_min array_position array_prepend array_remove array_size array_sort array_union
    arrays_overlap arrays_zip cardinality element_at try_element_at flatten get size slice sort_array explode
    explode_outer posexplode posexplode_outer inline inline_outer aggregate exists filter forall reduce zip_with
    map map_concat map_contains_key map_entries map_filter map_from_arrays map_from_entries map_keys map_values
    map_zip_with transform_keys transform_values str_to_map struct named_struct
    from_json to_json get_json_object json_array_length json_object_keys json_tuple schema_of_json
    monotonically_increasing_id range pivot unpivot
"""
POLARS = """
    abs acos acosd asin asind atan atan2 atan2d atand cbrt ceil ceiling cos cosd cot cotd degrees div exp floor ln
    log log10 log1p log2 mod pi pow power radians round sign sin sind sqrt tan tand trunc greatest least nullif
    coalesce ifnull if bit_count bit_length char_length character_length concat concat_ws date ends_with initcap
    left length lower ltrim octet_length regexp_like replace reverse right rtrim split_part starts_with strftime
    strpos strptime substr substring timestamp upper string_to_array trim position date_part extract avg corr count
    covar covar_pop covar_samp first last max median min quantile_cont quantile_disc std stddev stddev_samp stdev
    stdev_samp sum var var_samp variance row_number rank dense_rank lag lead first_value last_value array_agg
    array_contains array_get array_length array_lower array_max array_mean array_min array_reverse array_sum
    array_to_string array_unique array_upper unnest explode cast try_cast
    date_trunc year month day quarter week hour minute second now current_date current_time current_timestamp
    ntile percent_rank cume_dist nth_value grouping string_agg listagg sign truncate lpad rpad regexp_replace
    exclude rename
"""
CATALOGS = frozenset(
    {
        *("duckdb_tables", "duckdb_columns", "duckdb_views"),
        *("pragma_table_info", "pragma_table_xinfo", "pragma_table_list", "pragma_index_list", "pragma_index_info"),
    }
)
"""Functions that list tables and columns."""
LANGUAGE = """
    select from where having on using as and or not in is any all some exists between like ilike rlike regexp
    similar to escape case when then else end by over filter within group partition order distinct limit offset
    fetch union intersect except values row rows array sets rollup cube lateral join natural cross inner outer full
    materialized recursive interval collate binary only tablesample system bernoulli repeatable window separator
    qualify offset asof anti semi positional summarize describe
    xor div mod varchar char character varying decimal numeric dec float double real int integer bigint smallint
    tinyint mediumint signed unsigned bit time timestamp timestamptz datetime text date year nchar varbinary
"""
"""Words that may precede a parenthesis without calling anything."""


def names_of(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


KNOWN = {
    "postgresql": names_of(POSTGRESQL),
    "mysql": names_of(MYSQL),
    "mariadb": names_of(MYSQL),
    "sqlite": names_of(SQLITE),
    "duckdb": names_of(DUCKDB),
    "spark": names_of(SPARK),
    "polars": names_of(POLARS),
}
WORDS = names_of(LANGUAGE)
