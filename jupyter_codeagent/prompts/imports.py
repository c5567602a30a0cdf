"""Names that mean the same import in nearly all data code, and what replaces packages that are missing."""

from __future__ import annotations

ALIASES = {
    "pd": "import pandas as pd",
    "np": "import numpy as np",
    "pl": "import polars as pl",
    "plt": "import matplotlib.pyplot as plt",
    "mdates": "import matplotlib.dates as mdates",
    "sns": "import seaborn as sns",
    "stats": "from scipy import stats",
    **{name: f"import {name}" for name in ("math", "re", "json", "itertools", "statistics", "random", "string")},
    **{name: f"from collections import {name}" for name in ("Counter", "defaultdict")},
    "combinations": "from itertools import combinations",
    "StringIO": "from io import StringIO",
    "timedelta": "from datetime import timedelta",
    **{
        name: f"from scipy.stats import {name}"
        for name in ("pearsonr", "spearmanr", "ttest_ind", "chi2_contingency")
    },
    **{name: f"from sklearn.linear_model import {name}" for name in ("LinearRegression", "LogisticRegression")},
    **{name: f"from sklearn.preprocessing import {name}" for name in ("StandardScaler", "LabelEncoder")},
    **{
        name: f"from sklearn.metrics import {name}" for name in ("mean_squared_error", "r2_score", "accuracy_score")
    },
    "train_test_split": "from sklearn.model_selection import train_test_split",
    "KMeans": "from sklearn.cluster import KMeans",
    "PCA": "from sklearn.decomposition import PCA",
}
"""Name -> the import that certainly is meant."""

INSTEAD = {
    "seaborn": "matplotlib",
    "plotly": "matplotlib",
    "altair": "matplotlib",
    "bokeh": "matplotlib",
    "statsmodels": "scipy.stats or numpy",
    "sklearn": "scipy or numpy (polyfit, lstsq)",
    "pandasql": "pandas itself",
    "duckdb": "pandas itself",
    "geopandas": "pandas and matplotlib",
    "requests": "the loaded variables: there is no network",
    "urllib3": "the loaded variables: there is no network",
    "openpyxl": "the loaded variables: there are no files",
}
"""Top-level package -> what does its job where it is missing."""
