"""The ten cases that are held back: whoever tunes does not read on."""

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


def gym() -> Case:
    rng = np.random.default_rng(2201)
    n, members = 5600, 1500
    came = moments(rng, n, "2022-04-01", 730)
    club = levels(rng, n, {"Hafen": 31, "Altstadt": 27, "Messe": 23, "Ring": 19})
    minutes = latent(rng, n, yearly(came, 0.5, 25), by_level(club, {"Messe": 0.5, "Ring": -0.15}))
    resting = np.round(rng.normal(63, 8, n))
    pulse = latent(rng, n, pull(resting, 0.4))
    unworn = chance(rng, by_level(club, {"Altstadt": 0.25, "Ring": 0.21}, 0.05))
    visits = pd.DataFrame(
        {
            "visit": np.arange(44_001, 44_001 + n),
            "member": codes(rng, n, "M{:04d}", members),
            "came_at": came,
            "club": club,
            "minutes": np.round(np.exp(4.15 + 0.35 * minutes)),
            "resting_pulse": resting,
            "mean_pulse": np.round(128 + 12 * pulse),
            "calories": blank(np.round(rng.gamma(9, 45, n)), unworn),
            "course": levels(rng, n, {"none": 61, "yoga": 15, "cycling": 14, "boxing": 10}),
            "locker": rng.integers(1, 241, n),
            "drink": levels(rng, n, {"water": 62, "shake": 21, "none": 17}),
            "towel": levels(rng, n, {"own": 81, "rented": 19}),
        }
    )
    ids = repeated(rng, [f"M{number:04d}" for number in range(1, members + 1) if number % 13], 0.025)
    m = len(ids)
    tariff = levels(rng, m, {"off-peak": 29, "standard": 52, "gold": 19})
    people = pd.DataFrame(
        {
            "member_no": ids,
            "since": np.datetime64("2016-01-01") + rng.integers(0, 2200, m).astype("timedelta64[D]"),
            "tariff": tariff,
            "pays_by": linked(
                rng,
                tariff,
                {
                    "off-peak": {"debit": 58, "card": 14, "cash": 28},
                    "standard": {"debit": 68, "card": 25, "cash": 7},
                    "gold": {"debit": 41, "card": 53, "cash": 6},
                },
            ),
            "age": np.round(rng.normal(37, 12, m)).clip(16, 82).astype(int),
            "height_cm": np.round(rng.normal(173, 9, m)),
            "goal": levels(rng, m, {"fitness": 45, "weight": 33, "strength": 22}),
        }
    )
    return Case(
        "gym",
        {"visits": visits, "members": people},
        (
            plant("season", "visits", "minutes"),
            plant("group_difference", "visits", "minutes", "club"),
            plant("correlation", "visits", "resting_pulse", "mean_pulse"),
            plant("missing_by_group", "visits", "calories", "club"),
            plant("association", "members", "tariff", "pays_by"),
            plant("duplicates", "members", "member_no"),
            plant("join", "visits", "member", "member_no", other="members"),
        ),
        {"visits": "came_at"},
        held_back=True,
    )


def laboratory() -> Case:
    rng = np.random.default_rng(2202)
    n = 2900
    taken = days(rng, n, "2022-01-03", 700)
    stage = levels(rng, n, {"I": 36, "II": 35, "III": 29})
    place = by_level(stage, {"I": -1.2, "II": 0.05, "III": 1.2})
    within = rng.normal(size=n)
    dose = place + within
    response = -0.95 * place + 0.45 * within + rng.normal(size=n)
    smoker = levels(rng, n, {"never": 52, "former": 27, "current": 21})
    ferritin = latent(rng, n, by_level(smoker, {"current": 0.55, "former": 0.2}))
    bmi = np.round(rng.normal(26.4, 3.9, n), 1)
    sodium = np.round(rng.normal(140, 2.6, n))
    mood = latent(rng, n, valley(bmi, 0.5))
    glucose = np.round(np.exp(4.6 + 0.18 * rng.normal(size=n)), 0)
    sodium[some(rng, n, 0.011)] = 999
    unread = some(rng, n, 0.08)
    frame = pd.DataFrame(
        {
            "sample": numbered(rng, n, "S{:05d}", 30001),
            "taken": taken.strftime("%Y/%m/%d"),
            "stage": stage,
            "dose_mg": np.round(42 + 9 * dose, 1),
            "response_pct": np.round(55 + 8 * response, 1),
            "smoker": smoker,
            "ferritin": np.round(np.exp(4.6 + 0.6 * ferritin)),
            "bmi": bmi,
            "fatigue": np.round(18 + 5 * mood, 1),
            "sodium": sodium,
            "glucose_mgdl": glucose,
            "glucose_mmol": np.round(glucose / 18.016, 2),
            "alt": blank(np.round(rng.lognormal(3.2, 0.5, n)), unread),
            "ast": blank(np.round(rng.lognormal(3.1, 0.5, n)), unread | some(rng, n, 0.006)),
            "tube": levels(rng, n, {"EDTA": 55, "serum": 38, "citrate": 7}),
            "device": "AU5800",
        }
    )
    return Case(
        "laboratory",
        {"samples": frame},
        (
            plant("reversal", "samples", "dose_mg", "response_pct", "stage"),
            plant("group_difference", "samples", "ferritin", "smoker"),
            plant("correlation", "samples", "bmi", "fatigue"),
            plant("impossible", "samples", "sodium"),
            plant("same", "samples", "glucose_mgdl", "glucose_mmol"),
            plant("missing_together", "samples", "alt", "ast"),
            plant("text_type", "samples", "taken"),
        ),
        held_back=True,
    )


def air() -> Case:
    rng = np.random.default_rng(2203)
    when = without(pd.date_range("2023-03-01", periods=7800, freq="h"), "2023-11-02", 21)
    n = len(when)
    ozone = latent(rng, n, daily(when, 0.65, 14))
    dust = latent(rng, n, step(when, "2023-08-14", -0.95))
    drift = latent(rng, n, ramp(when, 1.5))
    wind = np.round(rng.weibull(1.8, n) * 3.4, 1)
    soot = latent(rng, n, pull(wind, -0.4))
    particles = np.exp(2.2 + 0.4 * rng.normal(size=n))
    particles[some(rng, n, 0.004)] *= 40
    frame = pd.DataFrame(
        {
            "measured_at": when,
            "ozone": np.round(58 + 17 * ozone, 1),
            "pm10": np.round(np.exp(3.0 + 0.35 * dust), 1),
            "sensor_offset": np.round(0.4 + 0.09 * drift, 3),
            "wind_ms": wind,
            "soot": np.round(np.exp(0.1 + 0.4 * soot), 2),
            "pm1": np.round(particles, 1),
            "battery_v": np.round(rng.normal(12.4, 0.2, n), 2),
            "wind_from": levels(rng, n, {"N": 18, "E": 19, "S": 26, "W": 37}),
            "sky": levels(rng, n, {"clear": 38, "cloudy": 47, "rain": 15}),
            "box": "Süd-04",
        }
    )
    return Case(
        "air",
        {"hours": frame},
        (
            plant("season", "hours", "ozone"),
            plant("break", "hours", "pm10"),
            plant("trend", "hours", "sensor_offset"),
            plant("correlation", "hours", "wind_ms", "soot"),
            plant("outliers", "hours", "pm1"),
            plant("gap", "hours", "measured_at"),
        ),
        {"hours": "measured_at"},
        held_back=True,
    )


def calls() -> Case:
    rng = np.random.default_rng(2204)
    n = 6300
    when = moments(rng, n, "2023-06-01", 365)
    topic = levels(rng, n, {"invoice": 37, "fault": 31, "contract": 22, "other": 10})
    team = levels(rng, n, {"Leipzig": 40, "Rostock": 34, "Görlitz": 26})
    closed = chance(rng, by_level(topic, {"invoice": 0.81, "contract": 0.67, "other": 0.72}, 0.55))
    waiting = np.round(rng.gamma(1.7, 95, n))
    slope = by_level(topic, {"fault": -0.55, "other": -0.3}, 0.0)
    happy = latent(rng, n, standard(np.log(waiting + 5)) * slope)
    talk = latent(rng, n, by_level(team, {"Rostock": 0.45, "Görlitz": 0.1}), step(when, "2024-01-15", 0.9))
    agents = levels(rng, n, {f"A{number:02d}": 1 for number in range(1, 15)})
    frame = pd.DataFrame(
        {
            "call_id": repeated(rng, numbered(rng, n, "{:07d}", 2_300_000), 0.008),
            "begun": when,
            "team": team,
            "agent": agents,
            "topic": topic,
            "solved": np.where(closed, "yes", "no"),
            "waiting_s": waiting,
            "satisfaction": np.round(63 + 14 * happy).clip(0, 100),
            "talk_s": np.round(np.exp(5.3 + 0.55 * talk)),
            "callback": blank(
                levels(rng, n, {"wanted": 32, "not wanted": 68}),
                chance(rng, by_level(topic, {"fault": 0.24, "other": 0.2}, 0.04)),
            ),
            "fee": [f"{value:.2f} EUR" for value in rng.gamma(3, 4, n)],
            "transfers": rng.poisson(0.5, n),
            "queue_no": rng.integers(1, 400, n),
            "line": levels(rng, n, {"landline": 45, "mobile": 55}),
        }
    )
    return Case(
        "calls",
        {"calls": frame},
        (
            plant("association", "calls", "topic", "solved"),
            plant("interaction", "calls", "waiting_s", "satisfaction", "topic"),
            plant("group_difference", "calls", "talk_s", "team"),
            plant("break", "calls", "talk_s"),
            plant("missing_by_group", "calls", "callback", "topic"),
            plant("text_type", "calls", "fee"),
            plant("duplicates", "calls", "call_id"),
        ),
        {"calls": "begun"},
        held_back=True,
    )


def hotel() -> Case:
    rng = np.random.default_rng(2205)
    when = without(days(rng, 5000, "2021-05-01", 1000), "2022-11-07", 26)
    n = len(when)
    board = levels(rng, n, {"breakfast": 55, "half": 28, "none": 17})
    portal = linked(
        rng,
        board,
        {
            "breakfast": {"own site": 37, "portal": 48, "agency": 15},
            "half": {"own site": 30, "portal": 30, "agency": 40},
            "none": {"own site": 21, "portal": 69, "agency": 10},
        },
    )
    lead = np.round(rng.gamma(1.4, 26, n))
    rate = latent(rng, n, yearly(when, 0.65, 210))
    cancelled = chance(rng, np.clip(0.06 + 0.16 * (standard(lead) + 1.2) / 1.6, 0.03, 0.75)).astype(int)
    nights = 1 + rng.poisson(1.8, n)
    extras = latent(rng, n, pull(nights, 0.42))
    frame = pd.DataFrame(
        {
            "booking": numbered(rng, n, "B{:05d}", 70001),
            "arrival": when,
            "board": board,
            "booked_via": portal,
            "lead_days": lead,
            "rate": np.round(np.exp(4.65 + 0.22 * rate)),
            "cancelled": cancelled,
            "nights": nights,
            "extras": np.round(np.exp(3.1 + 0.7 * extras), 2),
            "adults": rng.choice([1, 2, 3, 4], n, p=[0.24, 0.6, 0.11, 0.05]),
            "children": np.where(some(rng, n, 0.006), -1, rng.poisson(0.4, n)),
            "floor": rng.integers(1, 7, n),
            "parking": levels(rng, n, {"no": 67, "yes": 33}),
            "nationality": levels(rng, n, {"DE": 58, "AT": 11, "IT": 10, "DK": 8, "FR": 8, "PL": 5}),
            "stars": 4,
        }
    )
    return Case(
        "hotel",
        {"bookings": doubled(rng, frame, 0.009)},
        (
            plant("association", "bookings", "board", "booked_via"),
            plant("season", "bookings", "rate"),
            plant("group_difference", "bookings", "lead_days", "cancelled", also=("correlation",)),
            plant("correlation", "bookings", "nights", "extras"),
            plant("impossible", "bookings", "children"),
            plant("duplicates", "bookings"),
            plant("gap", "bookings", "arrival"),
        ),
        {"bookings": "arrival"},
        held_back=True,
    )


def dairy() -> Case:
    rng = np.random.default_rng(2206)
    n = 1250
    made = days(rng, n, "2023-01-02", 620)
    plant_site = levels(rng, n, {"Kempten": 41, "Wangen": 33, "Isny": 26})
    culture = levels(rng, n, {"K1": 38, "K4": 34, "M2": 28})
    crossed = (plant_site == "Isny") & (culture == "M2")
    against = (plant_site != "Isny") & (culture == "M2")
    firm = latent(rng, n, np.where(crossed, -0.9, 0.0) + np.where(against, 0.4, 0.0))
    ripe = np.round(rng.normal(33, 6, n))
    taste = latent(rng, n, valley(ripe, -0.55))
    salt = latent(rng, n, ramp(made, 1.4))
    core = np.round(rng.normal(5.4, 0.7, n), 1)
    temperature_in_f = np.round(core * 9 / 5 + 32, 1)
    weight = rng.normal(2040, 36, n)
    weight[some(rng, n, 0.008)] /= 10
    frame = pd.DataFrame(
        {
            "batch": numbered(rng, n, "{:05d}-K", 10001),
            "made": made,
            "site": plant_site,
            "culture": culture,
            "firmness": np.round(48 + 6 * firm, 1),
            "ripening_days": ripe,
            "taste_score": np.round(71 + 8 * taste),
            "salt_pct": np.round(1.6 + 0.14 * salt, 2),
            "core_c": core,
            "core_f": temperature_in_f,
            "weight_g": np.round(weight),
            "germs": rng.negative_binomial(1, 0.06, n),
            "fat": [f"{value:.1f} %".replace(".", ",") for value in rng.normal(45, 1.8, n)],
            "vat": levels(rng, n, {"1": 27, "2": 26, "3": 24, "4": 23}),
            "milk": levels(rng, n, {"hay": 44, "silage": 56}),
        }
    )
    return Case(
        "dairy",
        {"batches": frame},
        (
            plant("interaction", "batches", "site", "culture", "firmness"),
            plant("correlation", "batches", "ripening_days", "taste_score"),
            plant("trend", "batches", "salt_pct"),
            plant("same", "batches", "core_c", "core_f"),
            plant("outliers", "batches", "weight_g"),
            plant("text_type", "batches", "fat"),
        ),
        {"batches": "made"},
        held_back=True,
    )


def flats() -> Case:
    rng = np.random.default_rng(2207)
    n = 2300
    listed = days(rng, n, "2022-02-01", 640)
    quarter = levels(rng, n, {"Centre": 24, "Harbour": 19, "Hill": 22, "Meadow": 35})
    heating = linked(
        rng,
        quarter,
        {
            "Centre": {"district": 61, "gas": 33, "heat pump": 6},
            "Harbour": {"district": 49, "gas": 37, "heat pump": 14},
            "Hill": {"district": 28, "gas": 59, "heat pump": 13},
            "Meadow": {"district": 31, "gas": 42, "heat pump": 27},
        },
    )
    area = np.round(rng.lognormal(4.2, 0.32, n), 1)
    rent = latent(rng, n, by_level(quarter, {"Harbour": 0.7, "Centre": 0.5, "Hill": 0.3}))
    built = np.round(rng.normal(1968, 24, n)).clip(1880, 2022)
    leaks = latent(rng, n, pull(built, -0.37))
    seen = chance(rng, by_level(quarter, {"Hill": 0.26}, 0.06))
    frame = pd.DataFrame(
        {
            "listing": np.arange(90_200, 90_200 + n),
            "listed": listed,
            "quarter": quarter,
            "area_m2": area,
            "area_sqft": np.round(area * 10.7639),
            "rent_per_m2": np.round(np.exp(2.45 + 0.2 * rent), 2),
            "heating": heating,
            "built": built,
            "energy_kwh": np.round(138 + 31 * leaks),
            "rooms": rng.choice([1, 2, 3, 4, 5], n, p=[0.12, 0.33, 0.34, 0.15, 0.06]),
            "deposit": [
                f"{value:,.2f}".translate(str.maketrans(",.", ".,")) for value in rng.lognormal(7.6, 0.3, n)
            ],
            "views": blank(rng.poisson(210, n).astype(float), seen),
            "pets": levels(rng, n, {"no": 58, "on request": 31, "yes": 11}),
            "floor": rng.integers(0, 8, n),
            "balcony": levels(rng, n, {"yes": 55, "no": 45}),
        }
    )
    return Case(
        "flats",
        {"listings": frame},
        (
            plant("association", "listings", "quarter", "heating"),
            plant("group_difference", "listings", "rent_per_m2", "quarter"),
            plant("correlation", "listings", "built", "energy_kwh"),
            plant("same", "listings", "area_m2", "area_sqft"),
            plant("missing_by_group", "listings", "views", "quarter"),
            plant("text_type", "listings", "deposit"),
        ),
        {"listings": "listed"},
        held_back=True,
    )


def library() -> Case:
    rng = np.random.default_rng(2208)
    n, titles = 4700, 1300
    lent = days(rng, n, "2021-09-01", 850)
    branch = levels(rng, n, {"main": 47, "south": 21, "river": 18, "bus": 14})
    hard = levels(rng, n, {"short": 35, "medium": 34, "long": 31})
    reminded = chance(rng, by_level(hard, {"short": 0.14, "medium": 0.5, "long": 0.88}))
    on_time = by_level(hard, {"short": 0.84, "medium": 0.66, "long": 0.41}) + np.where(reminded, 0.1, 0.0)
    kept = latent(rng, n, weekend(lent, 0.6), by_level(branch, {"bus": 0.45, "river": 0.2}))
    frame = pd.DataFrame(
        {
            "loan": numbered(rng, n, "L{:06d}", 500_000),
            "lent": lent,
            "title_id": rng.integers(1, titles + 1, n) + 7000,
            "branch": branch,
            "loan_period": hard,
            "reminder": np.where(reminded, "sent", "none"),
            "on_time": np.where(chance(rng, on_time), 1, 0),
            "days_kept": np.round(np.exp(2.6 + 0.4 * kept)),
            "reader_age": np.round(rng.gamma(5, 8, n)).clip(6, 95).astype(int),
            "stamp": rng.integers(100, 1000, n),
            "card": levels(rng, n, {"adult": 61, "child": 27, "senior": 12}),
            "renewals": rng.poisson(0.7, n),
        }
    )
    known = np.arange(7001, 7001 + titles + 60)
    known = known[known % 17 != 5]
    m = len(known)
    uncounted = some(rng, m, 0.1)
    pages = np.round(rng.lognormal(5.6, 0.4, m))
    books = pd.DataFrame(
        {
            "title_id": known,
            "genre": levels(rng, m, {"novel": 41, "non-fiction": 33, "crime": 17, "comic": 9}),
            "pages": blank(pages, uncounted),
            "weight_g": blank(np.round(rng.normal(410, 90, m)), uncounted),
            "bought": np.datetime64("2008-01-01") + rng.integers(0, 4600, m).astype("timedelta64[D]"),
            "price": np.round(rng.gamma(6, 3, m), 2),
            "shelf": levels(rng, m, dict.fromkeys("ABCDEFGH", 1)),
        }
    )
    return Case(
        "library",
        {"loans": frame, "titles": books},
        (
            plant("reversal", "loans", "reminder", "on_time", "loan_period"),
            plant("season", "loans", "days_kept"),
            plant("group_difference", "loans", "days_kept", "branch"),
            plant("missing_together", "titles", "pages", "weight_g"),
            plant("join", "loans", "title_id", other="titles"),
        ),
        {"loans": "lent"},
        held_back=True,
    )


def trucks() -> Case:
    rng = np.random.default_rng(2209)
    n, depots = 4400, 64
    when = without(moments(rng, n, "2023-01-02", 480), "2023-09-04", 16)
    n = len(when)
    goods = levels(rng, n, {"food": 38, "furniture": 26, "parcels": 30, "steel": 6})
    body = linked(
        rng,
        goods,
        {
            "food": {"reefer": 46, "box": 39, "tilt": 15},
            "furniture": {"reefer": 17, "box": 48, "tilt": 35},
            "parcels": {"reefer": 19, "box": 56, "tilt": 25},
            "steel": {"reefer": 5, "box": 25, "tilt": 70},
        },
    )
    load = np.round(rng.normal(14.2, 3.6, n).clip(1, 24), 1)
    litres = latent(rng, n, pull(load, 0.5))
    speed = np.round(rng.normal(72, 8, n))
    wear = latent(rng, n, valley(speed, 0.5))
    late = latent(rng, n, step(when, "2023-12-04", 0.95))
    tyre = np.round(rng.normal(8.3, 0.3, n), 1)
    tyre[some(rng, n, 0.013)] = -1
    trips = pd.DataFrame(
        {
            "trip": numbered(rng, n, "T-{:05d}", 11_000),
            "left_at": when,
            "depot": codes(rng, n, "D{:03d}", depots),
            "goods": goods,
            "body": body,
            "load_t": load,
            "litres_100km": np.round(27 + 2.6 * litres, 1),
            "mean_kmh": speed,
            "brake_wear": np.round(np.exp(0.9 + 0.4 * wear), 2),
            "delay_min": np.round(18 + 11 * late),
            "tyre_bar": tyre,
            "driver": levels(rng, n, {f"dr{number}": 1 for number in range(1, 23)}),
            "toll": np.round(rng.gamma(4, 11, n), 2),
            "stops": rng.poisson(4.4, n),
        }
    )
    ids = [f"D{number:03d}" for number in range(1, depots + 1) if number % 9]
    rows = [*ids, *ids[5:60:11]]
    m = len(rows)
    places = pd.DataFrame(
        {
            "code": rows,
            "country": levels(rng, m, {"DE": 60, "PL": 22, "CZ": 18}),
            "gates": rng.integers(3, 30, m),
            "night_shift": levels(rng, m, {"yes": 45, "no": 55}),
            "manager": numbered(rng, m, "mgr-{:03d}"),
            "area_m2": np.round(rng.lognormal(8.4, 0.5, m), -1),
        }
    )
    return Case(
        "trucks",
        {"trips": trips, "depots": places},
        (
            plant("association", "trips", "goods", "body"),
            plant("correlation", "trips", "load_t", "litres_100km"),
            plant("correlation", "trips", "mean_kmh", "brake_wear"),
            plant("break", "trips", "delay_min"),
            plant("impossible", "trips", "tyre_bar"),
            plant("gap", "trips", "left_at"),
            plant("join", "trips", "depot", "code", other="depots"),
        ),
        {"trips": "left_at"},
        held_back=True,
    )


def streaming() -> Case:
    rng = np.random.default_rng(2210)
    n = 3800
    when = days(rng, n, "2022-07-01", 900)
    plan = levels(rng, n, {"ads": 42, "plain": 39, "family": 19})
    age = np.round(rng.normal(39, 13, n)).clip(16, 85)
    slope = by_level(plan, {"ads": 0.1, "plain": -0.1, "family": -0.6})
    watched = latent(rng, n, standard(age) * slope)
    rating = latent(rng, n, by_level(plan, {"family": 0.6, "plain": 0.25}))
    wait = latent(rng, n, ramp(when, -1.4))
    searches = latent(rng, n, weekend(when, 0.65))
    offline = some(rng, n, 0.12)
    bitrate = np.round(rng.normal(5.2, 0.8, n), 2)
    bitrate[some(rng, n, 0.007)] *= 1000
    frame = pd.DataFrame(
        {
            "profile": repeated(rng, numbered(rng, n, "u{:06d}", 120_000), 0.007),
            "day": when,
            "plan": plan,
            "age": age.astype(int),
            "minutes": np.round(np.exp(4.2 + 0.6 * watched)),
            "liking": np.round(61 + 15 * rating).clip(0, 100),
            "start_delay_s": np.round(np.exp(0.5 + 0.3 * wait), 2),
            "searches": np.round(np.exp(1.5 + 0.45 * searches)),
            "downloads": blank(rng.poisson(3.1, n).astype(float), offline),
            "storage_gb": blank(np.round(rng.gamma(2, 4, n), 1), offline),
            "bitrate": bitrate,
            "genre": levels(rng, n, {"series": 46, "film": 28, "documentary": 15, "sport": 11}),
            "screen": levels(rng, n, {"tv": 54, "phone": 27, "laptop": 19}),
            "stars": blank(steps_of(rng.normal(size=n), (3, 7, 22, 41, 27)), some(rng, n, 0.2)),
        }
    )
    return Case(
        "streaming",
        {"views": frame},
        (
            plant("interaction", "views", "age", "minutes", "plan"),
            plant("group_difference", "views", "liking", "plan"),
            plant("trend", "views", "start_delay_s"),
            plant("season", "views", "searches"),
            plant("missing_together", "views", "downloads", "storage_gb"),
            plant("outliers", "views", "bitrate"),
            plant("duplicates", "views", "profile"),
        ),
        {"views": "day"},
        held_back=True,
    )


MAKERS = (gym, laboratory, air, calls, hotel, dairy, flats, library, trucks, streaming)
