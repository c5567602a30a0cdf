"""Sixteen tables: in ten a number changes over time in one group other than in the rest, in six it only looks so.

They measure whether that is found and nothing else said; whoever tunes does not read this file.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd

from evals.explore.case import Case, Planted
from evals.explore.draws import (
    Floats,
    Ints,
    Rng,
    Words,
    blank,
    by_level,
    chance,
    codes,
    days,
    elapsed,
    latent,
    levels,
    moments,
    numbered,
    some,
    yearly,
)


def group_trend(table: str, value: str, group: str) -> Planted:
    """Return the finding that a number changes over time other in one group than in the rest."""
    return Planted("group_trend", table, frozenset({value, group}))


def along(when: pd.DatetimeIndex) -> Floats:
    """Return how much of the span is over, from 0 to 1."""
    since = elapsed(when)
    return np.asarray(since / since.max(), dtype=np.float64)


def along_years(years: Ints) -> Floats:
    """Return how much of the span of years is over, from 0 to 1."""
    return np.asarray((years - years.min()) / (years.max() - years.min()), dtype=np.float64)


def drift(over: Floats, group: Words, sizes: Mapping[str, float]) -> Floats:
    """Return a straight change in each group by its size over the whole span, centred; no change in the rest."""
    return np.asarray((over - 0.5) * by_level(group, sizes), dtype=np.float64)


def whole(values: npt.ArrayLike) -> Ints:
    """Return the values as whole numbers."""
    return np.asarray(np.round(np.asarray(values, dtype=np.float64)), dtype=np.int64)


def uneven(rng: Rng, groups: Mapping[str, int]) -> Words:
    """Return each group as often as said, in random order."""
    return rng.permutation(np.repeat(np.array(list(groups)), list(groups.values())))


# Ten with one or two planted group trends.


def garden_centres() -> Case:
    """Return receipts: amounts rise in the north and fall in the south, the overall mean is flat."""
    rng = np.random.default_rng(6101)
    n = 5200
    sold = moments(rng, n, "2022-03-01", 600)
    region = levels(rng, n, {"north": 27, "west": 31, "south": 27, "east": 15})
    amount = latent(rng, n, drift(along(sold), region, {"north": 0.95, "south": -0.95}))
    frame = pd.DataFrame(
        {
            "receipt_no": np.arange(330001, 330001 + n),
            "sold_at": sold,
            "region": region,
            "till": codes(rng, n, "T{:02d}", 14),
            "articles": 1 + rng.poisson(2.6, n),
            "amount": np.round(np.exp(3.3 + 0.6 * amount), 2),
            "payment": levels(rng, n, {"card": 58, "cash": 34, "voucher": 8}),
            "loyalty_card": levels(rng, n, {"no": 63, "yes": 37}),
            "queue_s": whole(rng.gamma(2.0, 55.0, n)),
        }
    )
    trends = (group_trend("garden_receipts", "amount", "region"),)
    return Case("garden_centres", {"garden_receipts": frame}, trends, {"garden_receipts": "sold_at"}, True)


def grid_areas() -> Case:
    """Return the weekly peak load of six areas: all have the same season, only the harbour's rises."""
    rng = np.random.default_rng(6102)
    base = {"harbour": 96.0, "old town": 121.0, "airport": 88.0, "hillside": 64.0, "campus": 71.0, "mill": 109.0}
    weeks = pd.date_range("2022-01-03", periods=104, freq="7D")
    week, area = pd.DatetimeIndex(np.repeat(weeks, len(base))), np.tile(np.array(list(base)), len(weeks))
    n = len(week)
    load = by_level(area, base) + yearly(week, 5.5, 18) + drift(along(week), area, {"harbour": 17.0})
    frame = pd.DataFrame(
        {
            "week": week,
            "area": area,
            "peak_mw": np.round(load + rng.normal(0, 4.0, n), 1),
            "outages": rng.poisson(1.4, n),
            "voltage_dips": rng.poisson(3.8, n),
            "crew": levels(rng, n, {"A": 35, "B": 34, "C": 31}),
            "inspected": levels(rng, n, {"no": 71, "yes": 29}),
        }
    )
    trends = (group_trend("area_weeks", "peak_mw", "area"),)
    return Case("grid_areas", {"area_weeks": frame}, trends, {"area_weeks": "week"}, True)


def missed_visits() -> Case:
    """Return appointments: ever more are missed at one of five clinics."""
    rng = np.random.default_rng(6103)
    n = 4300
    day = days(rng, n, "2020-09-01", 1090)
    clinic = levels(rng, n, {"Central": 33, "Parkside": 23, "Lindenhof": 18, "Lakeview": 16, "Hill Road": 10})
    usual = {"Central": 0.14, "Parkside": 0.11, "Lindenhof": 0.25, "Lakeview": 0.17, "Hill Road": 0.12}
    missed = by_level(clinic, usual) + drift(along(day), clinic, {"Lindenhof": 0.36})
    frame = pd.DataFrame(
        {
            "appointment_id": numbered(rng, n, "A{:06d}", 51000),
            "day": day,
            "clinic": clinic,
            "missed": chance(rng, missed).astype(int),
            "age": whole(rng.normal(47, 18, n).clip(1, 95)),
            "sex": levels(rng, n, {"f": 56, "m": 44}),
            "booked_days_before": whole(rng.exponential(16, n)),
            "first_visit": levels(rng, n, {"no": 68, "yes": 32}),
            "reminder": levels(rng, n, {"text": 52, "mail": 30, "none": 18}),
        }
    )
    trends = (group_trend("clinic_appointments", "missed", "clinic"),)
    return Case("missed_visits", {"clinic_appointments": frame}, trends, {"clinic_appointments": "day"}, True)


def jobless_regions() -> Case:
    """Return thirty years of jobless rates: one common cycle, one region recovers and one gets worse."""
    rng = np.random.default_rng(6104)
    base = {"East": 10.2, "Coast": 7.4, "Capital": 8.1, "Centre": 6.0, "South": 4.6, "West": 7.0, "Lakes": 5.3}
    span = np.arange(1994, 2024)
    year = np.repeat(span, 2 * len(base))
    region = np.tile(np.repeat(np.array(list(base)), 2), len(span))
    cycle = 0.7 * np.sin((year - 1994) * 2 * np.pi / 9.5)
    n = len(year)
    rate = by_level(region, base) + cycle + drift(along_years(year), region, {"East": -5.5, "Coast": 4.0})
    frame = pd.DataFrame(
        {
            "year": year,
            "region": region,
            "sex": np.tile(np.array(["women", "men"]), n // 2),
            "jobless_pct": np.round(rate + rng.normal(0, 0.75, n), 1),
            "interviewed": whole(rng.normal(2150, 190, n)),
            "answered_pct": np.round(rng.normal(61, 4.5, n), 1),
            "survey_wave": levels(rng, n, {"spring": 50, "autumn": 50}),
        }
    )
    trends = (group_trend("region_years", "jobless_pct", "region"),)
    return Case("jobless_regions", {"region_years": frame}, trends, {"region_years": "year"}, True)


def village_census() -> Case:
    """Return a census every fifth year: the mountain villages age faster than all others."""
    rng = np.random.default_rng(6105)
    villages = {"mountain": 12, "coast": 9, "plain": 21, "river": 14}
    span = np.arange(1970, 2021, 5)
    year = np.repeat(span, sum(villages.values()))
    landscape = np.concatenate([uneven(rng, villages) for _ in span])
    over = along_years(year)
    n = len(year)
    old = by_level(landscape, {"mountain": 18.5, "coast": 17.0, "plain": 15.2, "river": 14.8})
    ageing = 3.0 * over + drift(over, landscape, {"mountain": 9.0})
    frame = pd.DataFrame(
        {
            "record": np.arange(1, n + 1),
            "year": year,
            "landscape": landscape,
            "over_65_pct": np.round(old + ageing + rng.normal(0, 3.4, n), 1),
            "inhabitants": whole(rng.lognormal(6.6, 0.7, n)),
            "births": rng.poisson(9.0, n),
            "school": levels(rng, n, {"yes": 57, "no": 43}),
            "forms_returned_pct": np.round(rng.normal(93, 2.6, n).clip(70, 100), 1),
        }
    )
    trends = (group_trend("village_counts", "over_65_pct", "landscape"),)
    return Case("village_census", {"village_counts": frame}, trends, {"village_counts": "year"}, True)


def news_site() -> Case:
    """Return eight weeks of visits: phones get slower; reading moves from social media to the newsletter."""
    rng = np.random.default_rng(6106)
    n = 7800
    seen = moments(rng, n, "2024-02-05", 56)
    over = along(seen)
    device = levels(rng, n, {"phone": 49, "desktop": 37, "tablet": 14})
    source = levels(rng, n, {"search": 38, "social": 25, "newsletter": 20, "direct": 17})
    load = latent(rng, n, drift(over, device, {"phone": 1.0}), by_level(device, {"tablet": 0.3}))
    read = latent(rng, n, drift(over, source, {"newsletter": 0.75, "social": -0.6}))
    frame = pd.DataFrame(
        {
            "visit_id": numbered(rng, n, "v{:07d}", 4410000),
            "seen_at": seen,
            "device": device,
            "source": source,
            "load_s": blank(np.round(np.exp(0.7 + 0.4 * load), 2), some(rng, n, 0.04)),
            "minutes_read": np.round(6.5 + 1.8 * read, 1).clip(0.1),
            "country": levels(rng, n, {"DE": 71, "AT": 15, "CH": 14}),
            "ads_shown": rng.poisson(4.2, n),
            "layout": levels(rng, n, {"A": 50, "B": 50}),
            "subscriber": levels(rng, n, {"no": 82, "yes": 18}),
            "scrolled_pct": whole(rng.beta(2.2, 1.8, n) * 100),
        }
    )
    trends = (
        group_trend("site_visits", "load_s", "device"),
        group_trend("site_visits", "minutes_read", "source"),
    )
    return Case("news_site", {"site_visits": frame}, trends, {"site_visits": "seen_at"}, True)


def city_buses() -> Case:
    """Return bus trips: one line of nine gets later and later after the first third of the time."""
    rng = np.random.default_rng(6107)
    n = 6400
    departed = moments(rng, n, "2023-01-09", 300)
    shares = {"L1": 17, "L2": 15, "L3": 13, "L4": 12, "L5": 11, "L6": 10, "L7": 9, "L8": 8, "L9": 5}
    line = levels(rng, n, shares)
    late = np.maximum(along(departed) - 0.35, 0.0) / 0.65 * by_level(line, {"L7": 1.7})
    delay = latent(rng, n, late, by_level(line, {"L2": 0.4, "L5": -0.3, "L9": 0.3}))
    frame = pd.DataFrame(
        {
            "departed": departed,
            "line": line,
            "delay_min": np.round(3.2 + 2.4 * delay, 1),
            "passengers": rng.negative_binomial(4, 0.13, n),
            "driver": codes(rng, n, "D{:03d}", 120),
            "bus_type": levels(rng, n, {"solo": 55, "articulated": 34, "midi": 11}),
            "ticket_checks": rng.poisson(0.5, n),
            "cabin_temp": np.round(rng.normal(20.5, 1.9, n), 1),
        }
    )
    trends = (group_trend("bus_trips", "delay_min", "line"),)
    return Case("city_buses", {"bus_trips": frame}, trends, {"bus_trips": "departed"}, True)


def tillage_trial() -> Case:
    """Return twelve autumns of soil samples: carbon rises without ploughing and falls with it, the mean is flat."""
    rng = np.random.default_rng(6108)
    plots = {"no-till": 16, "plough": 16}
    autumns = pd.to_datetime([f"{year}-09-15" for year in range(2011, 2023)])
    n_plots = sum(plots.values())
    shift = pd.to_timedelta(rng.integers(0, 40, len(autumns) * n_plots), unit="D")
    taken = pd.DatetimeIndex(np.repeat(autumns, n_plots)) + shift
    tillage = np.concatenate([uneven(rng, plots) for _ in autumns])
    n = len(taken)
    carbon = latent(rng, n, drift(along(taken), tillage, {"no-till": 0.95, "plough": -0.95}))
    frame = pd.DataFrame(
        {
            "sample": numbered(rng, n, "S{:04d}", 1000),
            "taken": taken,
            "tillage": tillage,
            "carbon_pct": np.round(1.62 + 0.17 * carbon, 2),
            "ph": np.round(rng.normal(6.5, 0.35, n), 1),
            "clay_pct": np.round(rng.normal(22, 4.0, n), 1),
            "moisture_pct": np.round(rng.normal(18, 3.2, n), 1),
            "crop": levels(rng, n, {"wheat": 35, "barley": 25, "rape": 22, "beans": 18}),
            "sampler": levels(rng, n, {"KB": 40, "MT": 35, "RO": 25}),
        }
    )
    trends = (group_trend("soil_samples", "carbon_pct", "tillage"),)
    return Case("tillage_trial", {"soil_samples": frame}, trends, {"soil_samples": "taken"}, True)


def turning_shop() -> Case:
    """Return half a year of turned shafts: one machine drifts, and one alloy takes ever longer."""
    rng = np.random.default_rng(6109)
    n = 3600
    made = moments(rng, n, "2024-01-08", 182)
    over = along(made)
    machine = levels(rng, n, {"M1": 38, "M2": 29, "M3": 21, "M4": 12})
    alloy = levels(rng, n, {"steel": 51, "brass": 31, "titanium": 18})
    size = latent(rng, n, drift(over, machine, {"M3": 1.2}), by_level(machine, {"M2": -0.5, "M4": 0.4}))
    cycle = latent(rng, n, drift(over, alloy, {"titanium": 1.1}), by_level(alloy, {"titanium": 0.6}))
    frame = pd.DataFrame(
        {
            "part_no": np.arange(70001, 70001 + n),
            "made_at": made,
            "machine": machine,
            "alloy": alloy,
            "deviation_um": blank(np.round(1.5 + 6.0 * size, 1), some(rng, n, 0.06)),
            "cycle_s": np.round(48 + 5.0 * cycle, 1),
            "coolant_c": np.round(rng.normal(21.5, 1.2, n), 1),
            "operator": codes(rng, n, "OP{:02d}", 11),
            "shift": levels(rng, n, {"early": 38, "late": 36, "night": 26}),
            "roughness_um": np.round(rng.lognormal(-0.2, 0.3, n), 2),
        }
    )
    trends = (
        group_trend("turned_shafts", "deviation_um", "machine"),
        group_trend("turned_shafts", "cycle_s", "alloy"),
    )
    return Case("turning_shop", {"turned_shafts": frame}, trends, {"turned_shafts": "made_at"}, True)


def bank_branches() -> Case:
    """Return five years of monthly lending by eight branches: one grows and one shrinks."""
    rng = np.random.default_rng(6110)
    base = {"B01": 7.1, "B02": 6.2, "B03": 5.8, "B04": 6.6, "B05": 5.4, "B06": 6.0, "B07": 6.4, "B08": 5.6}
    months = pd.date_range("2018-01-01", periods=60, freq="MS")
    branch, month = np.repeat(np.array(list(base)), len(months)), pd.DatetimeIndex(np.tile(months, len(base)))
    n = len(month)
    lent = by_level(branch, base) + drift(along(month), branch, {"B02": 0.85, "B07": -0.8})
    frame = pd.DataFrame(
        {
            "branch": branch,
            "month": month,
            "lent_keur": np.round(np.exp(lent + rng.normal(0, 0.26, n)), 1),
            "advisers": 3 + rng.poisson(2.0, n),
            "complaints": rng.poisson(2.7, n),
            "campaign": levels(rng, n, {"none": 66, "mail": 20, "radio": 14}),
            "mean_term_months": np.round(rng.normal(54, 6.0, n), 1),
        }
    )
    trends = (group_trend("branch_months", "lent_keur", "branch"),)
    return Case("bank_branches", {"branch_months": frame}, trends, {"branch_months": "month"}, True)


# Six without a group trend that look alike.


def pay_scale() -> Case:
    """Return contracts: pay rises alike in all grades, which lie far apart."""
    rng = np.random.default_rng(6111)
    n = 2600
    signed = days(rng, n, "2014-01-01", 3280)
    grade = levels(rng, n, {"E5": 26, "E7": 29, "E9": 24, "E11": 14, "E13": 7})
    pay = by_level(grade, {"E5": 29.0, "E7": 31.0, "E9": 33.0, "E11": 35.5, "E13": 38.0}) + 1.6 * along(signed)
    frame = pd.DataFrame(
        {
            "contract": numbered(rng, n, "C-{:05d}", 12000),
            "signed": signed,
            "grade": grade,
            "hourly_pay": np.round(pay + rng.normal(0, 0.8, n), 2),
            "weekly_hours": rng.choice([20, 25, 30, 35, 39], n, p=[0.1, 0.08, 0.14, 0.18, 0.5]),
            "site": levels(rng, n, {"Kiel": 42, "Bremen": 33, "Rostock": 25}),
            "gender": levels(rng, n, {"f": 52, "m": 47, "d": 1}),
            "age": whole(rng.normal(37, 9.5, n).clip(18, 64)),
            "commute_km": np.round(rng.gamma(1.8, 8.5, n), 1),
        }
    )
    return Case("pay_scale", {"pay_contracts": frame}, (), {"pay_contracts": "signed"}, True)


def reading_tests() -> Case:
    """Return test scores: seven schools differ in level, none changes."""
    rng = np.random.default_rng(6112)
    n = 2400
    sat = days(rng, n, "2020-09-07", 1030)
    schools = {"Ash": 21, "Birch": 18, "Cedar": 16, "Elm": 14, "Hazel": 13, "Maple": 10, "Oak": 8}
    school = levels(rng, n, schools)
    score = latent(rng, n, by_level(school, {"Ash": -0.5, "Cedar": 0.6, "Hazel": 0.9, "Oak": -0.8}))
    frame = pd.DataFrame(
        {
            "pupil": codes(rng, n, "P{:04d}", 900),
            "sat_on": sat,
            "school": school,
            "score": whole(100 + 14 * score),
            "minutes": whole(rng.normal(38, 6.0, n)),
            "version": levels(rng, n, {"A": 34, "B": 33, "C": 33}),
            "form": levels(rng, n, {"paper": 44, "screen": 56}),
            "books_at_home": rng.negative_binomial(3, 0.05, n),
        }
    )
    return Case("reading_tests", {"test_sittings": frame}, (), {"test_sittings": "sat_on"}, True)


def help_desk() -> Case:
    """Return help requests: ever more come by chat, which is quick, so that the mean falls; no channel changes."""
    rng = np.random.default_rng(6113)
    n = 5000
    opened = moments(rng, n, "2022-01-03", 725)
    by_chat = chance(rng, 0.1 + 0.58 * along(opened))
    channel = np.where(by_chat, "chat", levels(rng, n, {"phone": 58, "mail": 42}))
    effort = latent(rng, n, by_level(channel, {"chat": -0.9, "mail": 0.3}))
    frame = pd.DataFrame(
        {
            "request": np.arange(9001, 9001 + n),
            "opened_at": opened,
            "channel": channel,
            "handling_min": np.round(24 + 6.5 * effort, 1).clip(1),
            "agent": codes(rng, n, "AG{:02d}", 24),
            "topic": levels(rng, n, {"invoice": 34, "delivery": 29, "login": 21, "other": 16}),
            "satisfaction": rng.choice([1, 2, 3, 4, 5], n, p=[0.06, 0.09, 0.2, 0.36, 0.29]),
            "waited_s": whole(rng.exponential(95, n)),
        }
    )
    return Case("help_desk", {"help_requests": frame}, (), {"help_requests": "opened_at"}, True)


def weather_posts() -> Case:
    """Return three years of weekly temperatures: six stations have the same season."""
    rng = np.random.default_rng(6114)
    base = {"Arndorf": 9.8, "Brunn": 8.7, "Tann": 6.1, "Seefeld": 7.6, "Moosach": 10.4, "Kamm": 3.9}
    weeks = pd.date_range("2019-01-07", periods=156, freq="7D")
    week, station = pd.DatetimeIndex(np.repeat(weeks, len(base))), np.tile(np.array(list(base)), len(weeks))
    n = len(week)
    of_week = np.repeat(rng.normal(0, 1.3, len(weeks)), len(base))
    warmth = by_level(station, base) + yearly(week, 9.0, 200) + of_week
    frame = pd.DataFrame(
        {
            "week": week,
            "station": station,
            "mean_temp": np.round(warmth + rng.normal(0, 0.9, n), 1),
            "wind_ms": np.round(rng.gamma(5.0, 0.7, n), 1),
            "battery_v": np.round(rng.normal(12.6, 0.15, n), 2),
            "readings_lost": rng.poisson(1.6, n),
            "observer": levels(rng, n, {"auto": 78, "hand": 22}),
        }
    )
    return Case("weather_posts", {"station_weeks": frame}, (), {"station_weeks": "week"}, True)


def fund_prices() -> Case:
    """Return four years of monthly prices: each of eight funds goes its own random way."""
    rng = np.random.default_rng(6115)
    funds = np.array(["Alto", "Brio", "Corda", "Delta", "Evora", "Forte", "Giro", "Halma"])
    months = pd.date_range("2019-06-30", periods=48, freq="ME")
    walks = 100 + rng.normal(0, 3.1, (len(funds), len(months))).cumsum(axis=1)
    n = len(funds) * len(months)
    frame = pd.DataFrame(
        {
            "fund": np.repeat(funds, len(months)),
            "month": np.tile(months, len(funds)),
            "price": np.round(walks.ravel(), 2),
            "trades": rng.negative_binomial(6, 0.05, n),
            "news_items": rng.poisson(3.2, n),
            "rating": levels(rng, n, {"hold": 54, "buy": 29, "sell": 17}),
            "spread_bp": np.round(rng.gamma(6.0, 1.5, n), 1),
        }
    )
    return Case("fund_prices", {"fund_months": frame}, (), {"fund_months": "month"}, True)


def sprint_power() -> Case:
    """Return sprint tests: one squad's meter is far noisier than the others', no squad changes."""
    rng = np.random.default_rng(6116)
    n = 1500
    tested = days(rng, n, "2022-10-01", 430)
    squad = levels(rng, n, {"juniors": 31, "women": 28, "men": 26, "para": 15})
    noise = by_level(squad, {"para": 4.0}, 1.0) * rng.normal(size=n)
    watts = by_level(squad, {"juniors": 610.0, "women": 640.0, "men": 705.0, "para": 630.0}) + 32 * noise
    frame = pd.DataFrame(
        {
            "tested_on": tested,
            "squad": squad,
            "peak_watts": whole(watts),
            "rest_pulse": whole(rng.normal(54, 6.0, n)),
            "lactate": np.round(rng.lognormal(2.1, 0.28, n), 1),
            "sleep_h": np.round(rng.normal(7.6, 0.9, n), 1),
            "coach": levels(rng, n, {"Adler": 36, "Bos": 34, "Conti": 30}),
            "track": levels(rng, n, {"indoor": 61, "outdoor": 39}),
        }
    )
    return Case("sprint_power", {"sprint_tests": frame}, (), {"sprint_tests": "tested_on"}, True)


MAKERS = (
    garden_centres,
    grid_areas,
    missed_visits,
    jobless_regions,
    village_census,
    news_site,
    city_buses,
    tillage_trial,
    turning_shop,
    bank_branches,
    pay_scale,
    reading_tests,
    help_desk,
    weather_posts,
    fund_prices,
    sprint_power,
)
