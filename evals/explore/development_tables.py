"""The ten development cases: whoever tunes may look at these."""

from __future__ import annotations

import numpy as np
import pandas as pd

from evals.explore.case import Case, plant
from evals.explore.draws import (
    blank,
    by_level,
    chance,
    codes,
    daily,
    days,
    doubled,
    latent,
    levels,
    linked,
    moments,
    numbered,
    pull,
    ramp,
    repeated,
    some,
    standard,
    step,
    steps_of,
    valley,
    weekend,
    without,
    yearly,
)


def shop() -> Case:
    rng = np.random.default_rng(1101)
    n, customers = 5200, 1400
    ordered = moments(rng, n, "2023-01-02", 540)
    channel = levels(rng, n, {"web": 46, "app": 31, "store": 17, "phone": 6})
    payment = linked(
        rng,
        channel,
        {
            "web": {"card": 45, "paypal": 35, "invoice": 20},
            "app": {"card": 40, "paypal": 52, "invoice": 8},
            "store": {"card": 70, "paypal": 10, "invoice": 20},
            "phone": {"card": 25, "paypal": 10, "invoice": 65},
        },
    )
    items = 1 + rng.poisson(2.1, n)
    basket = latent(rng, n, by_level(channel, {"store": 0.55, "phone": 0.3}), pull(items, 0.45))
    delivery = latent(rng, n, weekend(ordered, 0.7))
    rating = steps_of(rng.normal(size=n), (4, 6, 15, 38, 37))
    orders = pd.DataFrame(
        {
            "order_id": repeated(rng, numbered(rng, n, "O-{:06d}", 20400), 0.012),
            "ordered_at": ordered,
            "customer_id": codes(rng, n, "C{:05d}", customers),
            "channel": channel,
            "country": levels(rng, n, {"DE": 61, "AT": 16, "CH": 12, "NL": 11}),
            "items": items,
            "basket_value": np.round(np.exp(3.9 + 0.6 * basket), 2),
            "discount_pct": rng.choice([0, 5, 10, 15, 20], n, p=[0.62, 0.13, 0.13, 0.07, 0.05]),
            "payment": payment,
            "delivery_days": np.round(np.exp(1.1 + 0.35 * delivery), 1),
            "rating": blank(rating, chance(rng, by_level(channel, {"store": 0.26, "phone": 0.2}, 0.05))),
            "gift_wrap": levels(rng, n, {"no": 93, "yes": 7}),
            "currency": "EUR",
        }
    )
    ids = [f"C{number:05d}" for number in range(1, customers + 1) if rng.random() > 0.07]
    people = pd.DataFrame(
        {
            "customer_id": sorted(repeated(rng, ids, 0.03)),
            "signed_up": np.datetime64("2019-03-01") + rng.integers(0, 1300, len(ids)).astype("timedelta64[D]"),
            "newsletter": levels(rng, len(ids), {"yes": 38, "no": 62}),
            "birth_year": np.round(rng.normal(1981, 12, len(ids))).clip(1935, 2004).astype(int),
            "segment": levels(rng, len(ids), {"private": 84, "business": 12, "school": 4}),
            "points": np.round(rng.exponential(240, len(ids))).astype(int),
        }
    )
    return Case(
        "shop",
        {"orders": orders, "customers": people},
        (
            plant("group_difference", "orders", "basket_value", "channel"),
            plant("correlation", "orders", "basket_value", "items"),
            plant("association", "orders", "payment", "channel"),
            plant("season", "orders", "delivery_days"),
            plant("missing_by_group", "orders", "rating", "channel"),
            plant("duplicates", "orders", "order_id"),
            plant("duplicates", "customers", "customer_id"),
            plant("join", "orders", "customer_id", other="customers"),
        ),
        {"orders": "ordered_at"},
    )


def hospital() -> Case:
    rng = np.random.default_rng(1102)
    n = 3400
    admitted = days(rng, n, "2021-01-01", 730)
    severity = levels(rng, n, {"mild": 38, "moderate": 34, "severe": 28})
    new = chance(rng, by_level(severity, {"mild": 0.15, "moderate": 0.5, "severe": 0.87}))
    well = by_level(severity, {"mild": 0.8, "moderate": 0.64, "severe": 0.4}) + np.where(new, 0.11, 0.0)
    ward = levels(rng, n, {"Surgery": 29, "Cardiology": 24, "Internal": 33, "Orthopaedics": 14})
    age = np.round(rng.normal(61, 15, n)).clip(18, 97)
    stay = latent(rng, n, by_level(ward, {"Orthopaedics": 0.6, "Surgery": 0.2, "Cardiology": -0.1}))
    creatinine = np.exp(-0.08 + 0.3 * latent(rng, n, pull(age, 0.4)))
    creatinine[some(rng, n, 0.006)] *= 88.4
    no_blood = some(rng, n, 0.09)
    weight = np.round(rng.normal(78, 14, n).clip(41, 160), 1)
    frame = pd.DataFrame(
        {
            "stay_id": np.arange(810001, 810001 + n),
            "admitted": admitted,
            "ward": ward,
            "age": age.astype(int),
            "sex": levels(rng, n, {"f": 51, "m": 49}),
            "insurer": levels(rng, n, {"AOK": 35, "TK": 28, "Barmer": 21, "DAK": 12, "private": 4}),
            "severity": severity,
            "treatment": np.where(new, "new", "usual"),
            "recovered": chance(rng, well).astype(int),
            "los_days": np.round(np.exp(1.6 + 0.55 * stay)).clip(1),
            "creatinine": np.round(creatinine, 2),
            "crp": blank(np.round(rng.lognormal(2.2, 0.9, n), 1), no_blood),
            "haemoglobin": blank(np.round(rng.normal(13.4, 1.6, n), 1), no_blood | some(rng, n, 0.008)),
            "weight_kg": weight,
            "weight_lb": np.round(weight * 2.20462, 1),
            "room": rng.integers(101, 168, n),
        }
    )
    return Case(
        "hospital",
        {"stays": frame},
        (
            plant("reversal", "stays", "treatment", "recovered", "severity"),
            plant("group_difference", "stays", "los_days", "ward"),
            plant("correlation", "stays", "age", "creatinine"),
            plant("outliers", "stays", "creatinine"),
            plant("missing_together", "stays", "crp", "haemoglobin"),
            plant("same", "stays", "weight_kg", "weight_lb"),
        ),
        {"stays": "admitted"},
    )


def pump() -> Case:
    rng = np.random.default_rng(1103)
    when = without(pd.date_range("2024-01-08", periods=6900, freq="h"), "2024-05-20", 17)
    n = len(when)
    speed = np.round(rng.normal(1480, 120, n))
    pressure = np.round(rng.normal(6.2, 0.45, n), 2)
    pressure[some(rng, n, 0.012)] = -999
    power = latent(rng, n, valley(speed, 0.55))
    frame = pd.DataFrame(
        {
            "timestamp": when,
            "line": levels(rng, n, {"L1": 50, "L2": 50}),
            "oil_temp": np.round(54 + 4.5 * latent(rng, n, daily(when, 0.75, 15)), 2),
            "vibration": np.round(2.8 + 0.4 * latent(rng, n, step(when, "2024-07-29", 1.1)), 3),
            "speed_rpm": speed,
            "power_kw": np.round(37 + 3.2 * power, 2),
            "pressure_bar": pressure,
            "humidity": np.round(46 + 7 * rng.normal(size=n), 1),
            "flow": np.round(118 + 9 * latent(rng, n, ramp(when, -1.5)), 1),
            "operator": levels(rng, n, {"ka": 30, "mb": 28, "so": 24, "ut": 18}),
            "firmware": "2.4.1",
        }
    )
    return Case(
        "pump",
        {"readings": frame},
        (
            plant("season", "readings", "oil_temp"),
            plant("break", "readings", "vibration"),
            plant("correlation", "readings", "speed_rpm", "power_kw"),
            plant("trend", "readings", "flow"),
            plant("gap", "readings", "timestamp"),
            plant("impossible", "readings", "pressure_bar"),
        ),
        {"readings": "timestamp"},
    )


def staff() -> Case:
    rng = np.random.default_rng(1104)
    n = 1900
    hired = pd.DatetimeIndex(
        np.datetime64("2009-01-01", "s") + rng.integers(0, 5400, n) * np.timedelta64(86400, "s")
    )
    department = levels(rng, n, {"Sales": 27, "Production": 33, "IT": 15, "Finance": 9, "Logistics": 16})
    site = levels(rng, n, {"Linz": 44, "Graz": 31, "Brno": 25})
    contract = linked(
        rng,
        site,
        {
            "Linz": {"permanent": 84, "temporary": 10, "agency": 6},
            "Graz": {"permanent": 76, "temporary": 18, "agency": 6},
            "Brno": {"permanent": 58, "temporary": 16, "agency": 26},
        },
    )
    remote = levels(rng, n, {"none": 46, "some": 33, "mostly": 21})
    training = np.round(rng.gamma(2.2, 9, n))
    slope = by_level(remote, {"none": 0.5, "some": 0.1, "mostly": -0.3})
    engagement = latent(rng, n, standard(training) * slope)
    salary = latent(rng, n, by_level(department, {"IT": 0.7, "Finance": 0.45, "Logistics": -0.2}))
    appraised = chance(rng, by_level(department, {"Production": 0.27, "Logistics": 0.18}, 0.05))
    frame = pd.DataFrame(
        {
            "employee_id": repeated(rng, numbered(rng, n, "E{:04d}", 1001), 0.009),
            "hired": hired.strftime("%d.%m.%Y"),
            "department": department,
            "site": site,
            "contract": contract,
            "salary": np.round(np.exp(10.75 + 0.22 * salary) / 50) * 50,
            "bonus": [f"€ {value:,.0f}" for value in rng.lognormal(7.6, 0.5, n)],
            "remote": remote,
            "training_hours": training,
            "engagement": np.round(6.4 + 1.1 * engagement, 1).clip(0, 10),
            "appraisal": blank(steps_of(rng.normal(size=n), (5, 20, 45, 22, 8)), appraised),
            "commute_km": np.round(rng.lognormal(2.5, 0.8, n), 1),
            "sick_days": rng.poisson(6.3, n),
            "shirt_size": levels(rng, n, {"S": 18, "M": 36, "L": 31, "XL": 15}),
        }
    )
    return Case(
        "staff",
        {"employees": frame},
        (
            plant("group_difference", "employees", "salary", "department"),
            plant("association", "employees", "contract", "site"),
            plant("interaction", "employees", "training_hours", "remote", "engagement"),
            plant("missing_by_group", "employees", "appraisal", "department"),
            plant("duplicates", "employees", "employee_id"),
            plant("text_type", "employees", "hired"),
            plant("text_type", "employees", "bonus"),
        ),
    )


def school() -> Case:
    rng = np.random.default_rng(1105)
    n = 2600
    kind = levels(rng, n, {"Gymnasium": 36, "Realschule": 34, "Gesamtschule": 30})
    place = by_level(kind, {"Gymnasium": -1.15, "Realschule": 0.1, "Gesamtschule": 1.2})
    within = rng.normal(size=n)
    screen = place + within
    reading = 0.95 * place - 0.42 * within + rng.normal(size=n)
    breakfast = levels(rng, n, {"daily": 58, "sometimes": 29, "never": 13})
    attention = latent(rng, n, by_level(breakfast, {"sometimes": -0.25, "never": -0.6}))
    sleep = np.round(rng.normal(8.1, 0.9, n), 1)
    maths = latent(rng, n, valley(sleep, -0.5))
    absent = some(rng, n, 0.07)
    english = steps_of(rng.normal(size=n), (10, 27, 34, 21, 8))
    frame = pd.DataFrame(
        {
            "pupil": numbered(rng, n, "P{:05d}"),
            "school_type": kind,
            "class": levels(rng, n, {f"{year}{letter}": 1 for year in (7, 8, 9) for letter in "abc"}),
            "tested_on": days(rng, n, "2023-09-11", 240),
            "screen_hours": np.round((2.9 + 0.8 * screen).clip(0), 1),
            "reading_score": np.round(500 + 48 * reading),
            "breakfast": breakfast,
            "attention": np.round(100 + 15 * attention),
            "sleep_hours": sleep,
            "maths_score": np.round(500 + 90 * maths),
            "english_mark": english,
            "listening": blank(np.round(rng.beta(5, 2, n) * 100), absent),
            "speaking": blank(np.round(rng.beta(4, 2, n) * 100), absent),
            "siblings": rng.poisson(1.1, n),
            "left_handed": levels(rng, n, {"no": 89, "yes": 11}),
        }
    )
    return Case(
        "school",
        {"pupils": doubled(rng, frame, 0.011)},
        (
            plant("reversal", "pupils", "screen_hours", "reading_score", "school_type"),
            plant("group_difference", "pupils", "attention", "breakfast"),
            plant("correlation", "pupils", "sleep_hours", "maths_score"),
            plant("missing_together", "pupils", "listening", "speaking"),
            plant("duplicates", "pupils"),
        ),
        {"pupils": "tested_on"},
    )


def web() -> Case:
    rng = np.random.default_rng(1106)
    when = moments(rng, 8300, "2024-02-01", 200)
    when = without(when, "2024-06-10", 15)
    n = len(when)
    device = levels(rng, n, {"desktop": 41, "mobile": 52, "tablet": 7})
    source = linked(
        rng,
        device,
        {
            "desktop": {"search": 52, "social": 11, "direct": 25, "mail": 12},
            "mobile": {"search": 36, "social": 37, "direct": 17, "mail": 10},
            "tablet": {"search": 44, "social": 25, "direct": 21, "mail": 10},
        },
    )
    layout = levels(rng, n, {"A": 50, "B": 50})
    crossed = (layout == "B") & (device == "mobile")
    duration = latent(rng, n, np.where(crossed, 0.55, 0.0) - np.where((layout == "B") & ~crossed, 0.35, 0.0))
    load = latent(rng, n, step(when, "2024-05-06", 0.9))
    pages = 1 + rng.poisson(np.exp(1.05 + 0.3 * latent(rng, n)))
    scroll = latent(rng, n, pull(np.log(pages), 0.38))
    took = np.round(np.exp(0.3 + 0.35 * load), 2)
    frame = pd.DataFrame(
        {
            "session": [f"{number:08x}" for number in rng.permutation(n) + 0x4A110000],
            "started": when,
            "device": device,
            "source": source,
            "browser": levels(rng, n, {"Chrome": 57, "Safari": 24, "Firefox": 12, "Edge": 7}),
            "layout": layout,
            "pages": pages,
            "scroll_depth": np.round(55 + 17 * scroll).clip(0, 100),
            "seconds": np.round(np.exp(4.4 + 0.8 * duration)),
            "load_s": took,
            "load_ms": (took * 1000).round().astype(int),
            "bytes": [f"{value:.1f} kB" for value in rng.lognormal(6.2, 0.6, n)],
            "clicks": rng.negative_binomial(2, 0.3, n),
            "referral_code": rng.integers(1000, 9999, n),
            "language": levels(rng, n, {"de": 70, "en": 21, "fr": 5, "it": 4}),
        }
    )
    return Case(
        "web",
        {"sessions": frame},
        (
            plant("association", "sessions", "device", "source"),
            plant("interaction", "sessions", "seconds", "layout", "device"),
            plant("break", "sessions", "load_s"),
            plant("correlation", "sessions", "pages", "scroll_depth"),
            plant("same", "sessions", "load_s", "load_ms"),
            plant("text_type", "sessions", "bytes"),
            plant("gap", "sessions", "started"),
        ),
        {"sessions": "started"},
    )


def bikes() -> Case:
    rng = np.random.default_rng(1107)
    n, stations = 7600, 90
    began = moments(rng, n, "2022-01-01", 1095)
    member = levels(rng, n, {"member": 71, "casual": 29})
    bike = linked(
        rng, member, {"member": {"classic": 68, "electric": 32}, "casual": {"classic": 45, "electric": 55}}
    )
    length = latent(rng, n, yearly(began, 0.6, 196), by_level(member, {"casual": 0.4}))
    minutes = np.round(np.exp(2.5 + 0.5 * length), 1)
    minutes[some(rng, n, 0.005)] *= 60
    speed = latent(rng, n, weekend(began, -0.55))
    meters = np.round(rng.gamma(3, 9, n))
    climb = latent(rng, n, pull(meters, 0.35))
    rides = pd.DataFrame(
        {
            "ride": np.arange(5_000_000, 5_000_000 + n),
            "started_at": began,
            "from_station": rng.integers(300, 300 + stations, n),
            "user_type": member,
            "bike_type": bike,
            "minutes": np.round(minutes, 1),
            "speed_kmh": np.round(14.5 + 2.4 * speed, 1),
            "climb_m": meters,
            "heart_rate": np.round(121 + 13 * climb),
            "battery": np.where(rng.random(n) < 0.004, -1, rng.integers(12, 101, n)),
            "helmet": levels(rng, n, {"no": 66, "yes": 34}),
            "bell_rings": rng.poisson(0.8, n),
        }
    )
    places = pd.DataFrame(
        {
            "station_no": np.arange(308, 300 + stations + 25),
            "district": levels(rng, stations + 17, {"Mitte": 30, "Nord": 25, "Süd": 25, "West": 20}),
            "docks": rng.integers(8, 40, stations + 17),
            "has_roof": levels(rng, stations + 17, {"yes": 30, "no": 70}),
            "opened": np.datetime64("2015-01-01") + rng.integers(0, 2400, stations + 17).astype("timedelta64[D]"),
            "altitude": np.round(rng.normal(112, 14, stations + 17)),
        }
    )
    return Case(
        "bikes",
        {"rides": rides, "stations": places},
        (
            plant("season", "rides", "minutes"),
            plant("season", "rides", "speed_kmh"),
            plant("group_difference", "rides", "minutes", "user_type"),
            plant("association", "rides", "user_type", "bike_type"),
            plant("correlation", "rides", "climb_m", "heart_rate"),
            plant("outliers", "rides", "minutes"),
            plant("impossible", "rides", "battery"),
            plant("join", "rides", "from_station", "station_no", other="stations"),
        ),
        {"rides": "started_at"},
    )


def crops() -> Case:
    rng = np.random.default_rng(1108)
    n = 820
    soil = levels(rng, n, {"loam": 42, "clay": 27, "sand": 20, "peat": 11})
    variety = levels(rng, n, {"Asory": 36, "Chevignon": 34, "Informer": 30})
    nitrogen = np.round(rng.normal(150, 32, n).clip(40))
    slope = by_level(soil, {"loam": 0.55, "clay": 0.45, "sand": -0.25, "peat": -0.3})
    crop = latent(rng, n, standard(nitrogen) * slope, by_level(variety, {"Chevignon": 0.65, "Informer": 0.1}))
    ph = np.round(rng.normal(6.5, 0.5, n), 2)
    protein = latent(rng, n, valley(ph, -0.6))
    area = np.round(rng.lognormal(1.6, 0.6, n), 2)
    frame = pd.DataFrame(
        {
            "field_code": numbered(rng, n, "F-{:04d}"),
            "sown": days(rng, n, "2022-09-20", 45),
            "soil": soil,
            "variety": variety,
            "nitrogen_kg": nitrogen,
            "ph": ph,
            "yield_t": np.round(7.6 + 1.1 * crop, 2),
            "protein_pct": np.round(12.3 + 0.9 * protein, 1),
            "area_ha": area,
            "area_acres": np.round(area * 2.47105, 2),
            "slope_pct": np.round(rng.exponential(3.1, n), 1),
            "rain_mm": np.where(some(rng, n, 0.015), -99, np.round(rng.normal(612, 70, n))),
            "harvest": [f"{value:.2f}".replace(".", ",") for value in rng.normal(31.5, 4.1, n)],
            "tractor": levels(rng, n, {"Fendt": 45, "Claas": 30, "Deutz": 25}),
            "season": 2023,
        }
    )
    return Case(
        "crops",
        {"fields": frame},
        (
            plant("interaction", "fields", "nitrogen_kg", "yield_t", "soil"),
            plant("group_difference", "fields", "yield_t", "variety"),
            plant("correlation", "fields", "ph", "protein_pct"),
            plant("same", "fields", "area_ha", "area_acres"),
            plant("text_type", "fields", "harvest"),
            plant("impossible", "fields", "rain_mm"),
        ),
    )


def claims() -> Case:
    rng = np.random.default_rng(1109)
    n, policies = 4100, 2100
    reported = days(rng, n, "2020-01-01", 1460)
    region = levels(rng, n, {"North": 24, "East": 21, "South": 33, "West": 22})
    cause = linked(
        rng,
        region,
        {
            "North": {"storm": 47, "water": 25, "fire": 8, "theft": 20},
            "East": {"storm": 19, "water": 34, "fire": 10, "theft": 37},
            "South": {"storm": 19, "water": 47, "fire": 11, "theft": 23},
            "West": {"storm": 24, "water": 30, "fire": 9, "theft": 37},
        },
    )
    cost = latent(rng, n, by_level(cause, {"fire": 0.75, "storm": 0.15}), ramp(reported, 1.3))
    insured = np.round(rng.lognormal(11.9, 0.35, n), -3)
    deductible = latent(rng, n, pull(np.log(insured), 0.5))
    amount = np.exp(7.4 + 0.7 * cost)
    unseen = chance(rng, by_level(region, {"East": 0.28}, 0.06))
    frame = pd.DataFrame(
        {
            "claim_no": numbered(rng, n, "CL{:06d}", 100200),
            "reported": reported,
            "policy_no": codes(rng, n, "PV-{:05d}", policies),
            "region": region,
            "cause": cause,
            "amount": np.round(amount, 2),
            "sum_insured": insured,
            "deductible": np.round(np.exp(5.6 + 0.4 * deductible)),
            "handler": levels(rng, n, {"Abel": 22, "Brandt": 21, "Cicek": 20, "Dorn": 19, "Eder": 18}),
            "days_open": np.round(rng.gamma(2, 14, n)),
            "inspection_score": blank(np.round(rng.normal(62, 13, n)), unseen),
            "photos": rng.poisson(3.4, n),
            "reopened": levels(rng, n, {"no": 91, "yes": 9}),
        }
    )
    sold = pd.DataFrame(
        {
            "policy_no": [f"PV-{number:05d}" for number in range(1, policies + 1) if number % 11 != 3],
        }
    )
    m = len(sold)
    sold["started"] = np.datetime64("2012-01-01") + rng.integers(0, 2900, m).astype("timedelta64[D]")
    sold["tariff"] = levels(rng, m, {"basic": 48, "plus": 37, "premium": 15})
    sold["paid_by"] = levels(rng, m, {"month": 44, "quarter": 12, "year": 44})
    sold["children"] = rng.poisson(0.9, m)
    sold["premium"] = np.round(rng.lognormal(5.5, 0.4, m), 2)
    return Case(
        "claims",
        {"claims": frame, "policies": sold},
        (
            plant("association", "claims", "region", "cause"),
            plant("group_difference", "claims", "amount", "cause"),
            plant("trend", "claims", "amount"),
            plant("correlation", "claims", "sum_insured", "deductible"),
            plant("missing_by_group", "claims", "inspection_score", "region"),
            plant("join", "claims", "policy_no", other="policies"),
        ),
        {"claims": "reported"},
    )


def energy() -> Case:
    rng = np.random.default_rng(1110)
    when = without(pd.date_range("2020-01-01", periods=1500, freq="D"), "2022-03-14", 24)
    n = len(when)
    tariff = levels(rng, n, {"day": 55, "night": 25, "mixed": 20})
    use = latent(rng, n, yearly(when, 0.75, 15))
    water = latent(rng, n, step(when, "2022-09-01", -1.2))
    price = latent(rng, n, ramp(when, 1.7))
    down = some(rng, n, 0.05)
    heat = np.round(rng.normal(41, 6, n), 1)
    heat[some(rng, n, 0.008)] *= 10
    visitors = rng.poisson(34, n)
    noise = latent(rng, n, pull(visitors, 0.42))
    frame = pd.DataFrame(
        {
            "day": when,
            "meter": "M-1172",
            "tariff": tariff,
            "kwh": np.round(212 + 31 * use, 1),
            "water_m3": np.round(9.1 + 1.4 * water, 2),
            "price_ct": np.round(24 + 2.9 * price, 2),
            "feed_temp": heat,
            "voltage": blank(np.round(rng.normal(231, 1.9, n), 1), down),
            "frequency": blank(np.round(rng.normal(50, 0.02, n), 3), down),
            "visitors": visitors,
            "noise_db": np.round(52 + 4 * noise, 1),
            "alarms": rng.poisson(0.6, n),
            "lift_trips": np.round(rng.gamma(6, 14, n)),
            "shift": levels(rng, n, {"early": 34, "late": 33, "none": 33}),
        }
    )
    return Case(
        "energy",
        {"meter_days": frame},
        (
            plant("season", "meter_days", "kwh"),
            plant("break", "meter_days", "water_m3"),
            plant("trend", "meter_days", "price_ct"),
            plant("correlation", "meter_days", "visitors", "noise_db"),
            plant("missing_together", "meter_days", "voltage", "frequency"),
            plant("outliers", "meter_days", "feed_temp"),
            plant("gap", "meter_days", "day"),
        ),
        {"meter_days": "day"},
    )


MAKERS = (shop, hospital, pump, staff, school, web, bikes, crops, claims, energy)
