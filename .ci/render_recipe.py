"""Render the conda recipe, without building it: its syntax, its expressions and the sdist that it starts from."""

from __future__ import annotations

from pathlib import Path

from rattler_build import RenderConfig, Stage0Recipe, VariantConfig

RECIPE = Path(__file__).resolve().parents[1] / "recipe" / "recipe.yaml"


def main() -> None:
    """Print what is rendered; fail where there is no such sdist."""
    for rendered in Stage0Recipe.from_file(RECIPE).render(VariantConfig({}), RenderConfig()):
        recipe = rendered.recipe.to_dict()
        for source in recipe["source"]:
            if not (RECIPE.parent / source["path"]).is_file():
                raise SystemExit(f"recipe/recipe.yaml starts from {source['path']}, which is not there: make dist")
        named = f"{recipe['package']['name']} {recipe['package']['version']} {recipe['build']['string']}"
        print(f"recipe: {named}, needs {', '.join(recipe['requirements']['run'])}")


if __name__ == "__main__":
    main()
