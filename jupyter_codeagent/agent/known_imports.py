"""Imports that a name stands for in nearly all data code, and replacements for missing packages."""

from __future__ import annotations

from collections.abc import Collection

from jupyter_codeagent.agent.source import bound_names, parse, used_names

ALIASES = {
    "pd": "import pandas as pd",
    "np": "import numpy as np",
    "pl": "import polars as pl",
    "plt": "import matplotlib.pyplot as plt",
    "mdates": "import matplotlib.dates as mdates",
    "sns": "import seaborn as sns",
    "alt": "import altair as alt",
    "px": "import plotly.express as px",
    "go": "import plotly.graph_objects as go",
    "stats": "from scipy import stats",
    **{name: f"import {name}" for name in ("math", "re", "json", "itertools", "statistics", "random", "string")},
    **{name: f"from collections import {name}" for name in ("Counter", "defaultdict")},
    "combinations": "from itertools import combinations",
    "StringIO": "from io import StringIO",
    "timedelta": "from datetime import timedelta",
    **{
        name: f"from {module} import {name}"
        for module, names in {
            "scipy.stats": "pearsonr spearmanr kendalltau ttest_ind ttest_rel ttest_1samp chi2_contingency "
            "f_oneway shapiro normaltest kstest ks_2samp mannwhitneyu wilcoxon kruskal levene bartlett "
            "linregress zscore",
            "sklearn.linear_model": "LinearRegression LogisticRegression Ridge Lasso ElasticNet",
            "sklearn.preprocessing": "StandardScaler MinMaxScaler RobustScaler LabelEncoder OneHotEncoder "
            "OrdinalEncoder PolynomialFeatures",
            "sklearn.metrics": "mean_squared_error mean_absolute_error r2_score accuracy_score precision_score "
            "recall_score f1_score roc_auc_score confusion_matrix classification_report silhouette_score",
            "sklearn.model_selection": "train_test_split cross_val_score KFold StratifiedKFold GridSearchCV",
            "sklearn.ensemble": "RandomForestClassifier RandomForestRegressor GradientBoostingClassifier "
            "GradientBoostingRegressor IsolationForest",
            "sklearn.tree": "DecisionTreeClassifier DecisionTreeRegressor",
            "sklearn.neighbors": "KNeighborsClassifier KNeighborsRegressor",
            "sklearn.svm": "SVC SVR",
            "sklearn.impute": "SimpleImputer KNNImputer",
            "sklearn.pipeline": "Pipeline make_pipeline",
            "sklearn.compose": "ColumnTransformer",
            "sklearn.cluster": "KMeans DBSCAN AgglomerativeClustering",
            "sklearn.decomposition": "PCA",
        }.items()
        for name in names.split()
    },
}
"""Name -> the import that is certainly meant."""

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
"""Top-level package -> what to use where it is missing."""


def with_imports(code: str, defined: Collection[str]) -> str:
    """Add the import lines of known aliases that `code` uses and neither it nor `defined` has."""
    tree = parse(code)
    if tree is None:
        return code
    missing = (used_names(tree) - bound_names(tree) - set(defined)) & ALIASES.keys()
    lines = [line for name, line in ALIASES.items() if name in missing]
    return "\n".join(lines) + "\n\n" + code if lines else code
