"""Functions and methods, by name alone, that change values, return aliases, write files or hide effects."""

from __future__ import annotations

IN_PLACE = frozenset(
    {
        *("append", "extend", "insert", "clear", "sort", "reverse", "update", "setdefault", "pop", "popitem"),
        *("appendleft", "extendleft", "popleft", "rotate", "discard", "difference_update"),
        *("intersection_update", "symmetric_difference_update", "subtract"),
        *("__setitem__", "__delitem__", "__setattr__", "__delattr__", "__iadd__"),
        *("fill", "resize", "put", "partition", "itemset", "setflags"),
        *("insert_column", "replace_column", "drop_in_place"),
        *("fit", "partial_fit", "fit_transform", "fit_predict", "set_params", "fit_resample"),
        *("load_state_dict", "zero_grad", "writelines", "truncate"),
    }
)
"""Methods that change their object: lists, dicts, sets, arrays, frames, estimators, files."""

IN_PLACE_IF_UNUSED = frozenset({"add", "remove", "write", "setattr", "subtract", "backward", "step"})
"""Methods that change some objects and return a new value of others (`df.add`): a change if it is unused."""

ARGUMENT_MUTATORS = frozenset(
    {
        *("setattr", "delattr", "shuffle", "heappush", "heappop", "heapify", "heapreplace", "heappushpop"),
        *("insort", "insort_left", "insort_right", "fill_diagonal", "copyto", "place", "putmask", "put_along_axis"),
        *("setitem", "delitem"),
    }
)
"""Functions that change their first argument."""

ALIASING = frozenset({"enumerate", "zip", "reversed", "iter", "next", "asarray", "atleast_1d", "atleast_2d"})
"""Functions whose result contains their arguments."""

SHALLOW = frozenset({"list", "tuple", "dict", "set", "sorted", "filter"})
"""Functions whose result is a new container of what their arguments contain."""

PLAIN_ATTRIBUTES = frozenset({"shape", "size", "ndim", "dtype", "dtypes", "empty"})
"""Attributes of tables through which nothing changes."""

ALIASING_METHODS = frozenset(
    {*("items", "values", "get", "setdefault", "to_numpy", "view", "reshape", "ravel", "squeeze", "transpose")}
)
"""Methods whose result may share memory with their object."""

DYNAMIC_FUNCTIONS = {
    "exec": "it runs text as code (exec)",
    "eval": "it runs text as code (eval)",
    "compile": "it runs text as code (compile)",
    "globals": "it reaches names by text (globals)",
    "locals": "it reaches names by text (locals)",
    "vars": "it reaches names by text (vars)",
    "__import__": "it imports by text (__import__)",
}
"""Functions with effects that the text does not reveal, with the reason for the user."""

DYNAMIC_MODULES = {
    "__main__": "it reaches your variables through __main__",
    "builtins": "it reaches Python's own functions by another name (builtins)",
    "code": "it can run text as code (code)",
    "ctypes": "it can reach memory and system calls (ctypes)",
    "importlib": "it imports by text (importlib)",
    "multiprocessing": "it can start other processes (multiprocessing)",
    "pty": "it can start other programs (pty)",
    "runpy": "it can run other files (runpy)",
    "subprocess": "it can start other programs (subprocess)",
}
"""Modules with effects that the text does not reveal, with the reason for the user."""

PROCESS_FUNCTIONS = frozenset(
    {("os", "system"), ("os", "popen"), ("os", "execv"), ("os", "spawnl"), ("os", "startfile")}
)

FILE_FUNCTIONS = {
    "os": frozenset(
        {
            *("remove", "unlink", "rename", "renames", "replace", "rmdir", "removedirs", "mkdir", "makedirs"),
            *("truncate", "symlink", "link", "chmod", "chown"),
        }
    ),
    "shutil": frozenset({"rmtree", "move", "copy", "copy2", "copyfile", "copytree", "make_archive"}),
    "np": frozenset({"save", "savez", "savez_compressed", "savetxt"}),
    "numpy": frozenset({"save", "savez", "savez_compressed", "savetxt"}),
    "plt": frozenset({"savefig", "imsave"}),
}
"""Module or its usual alias -> functions that write or remove the file named by their first argument."""

FILE_METHODS = frozenset(
    {
        *(
            "to_csv",
            "to_parquet",
            "to_excel",
            "to_pickle",
            "to_json",
            "to_html",
            "to_feather",
            "to_hdf",
            "to_stata",
        ),
        *("to_latex", "to_markdown", "to_xml", "to_orc", "to_netcdf", "to_zarr", "to_file", "to_sql", "to_gbq"),
        *("write_csv", "write_parquet", "write_excel", "write_json", "write_ndjson", "write_ipc", "write_avro"),
        *("write_delta", "write_database", "sink_csv", "sink_parquet", "sink_ipc", "sink_ndjson"),
        *("savefig", "tofile", "write_html", "write_image", "write_json", "save", "imwrite", "imsave"),
    }
)
"""Methods that write to a path if they get one."""

PATH_METHODS = frozenset({"write_text", "write_bytes", "unlink", "rmdir", "mkdir", "touch", "symlink_to"})
"""Methods of `pathlib.Path` that write or remove its file."""

PATH_KEYWORDS = frozenset(
    {
        *("path", "path_or_buf", "fname", "excel_writer", "buf", "file", "filename", "fp", "outfile", "name"),
        *("where", "target", "uri"),
    }
)
"""Keyword arguments of `FILE_METHODS` for the path."""

OPENERS = frozenset({"io", "gzip", "bz2", "lzma", "codecs", "fsspec"})
"""Modules whose `open` takes path and mode, like the builtin; `Path.open` takes the mode only."""
