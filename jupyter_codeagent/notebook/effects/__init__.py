"""Static analysis of the effects of code on the namespace, without running it. It reports what it cannot see."""

from jupyter_codeagent.notebook.effects.analysis import CodeEffects, code_effects
from jupyter_codeagent.notebook.effects.on_namespace import effects_on_namespace, format_effects

__all__ = ["CodeEffects", "code_effects", "effects_on_namespace", "format_effects"]
