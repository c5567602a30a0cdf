"""The programs that show a finding: short pandas or polars with a small table and a chart."""

from jupyter_codeagent.explore.programs.by_kind import program

__all__ = ["program"]
