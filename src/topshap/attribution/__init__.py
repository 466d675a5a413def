"""Which parts of a prompt an answer of a language model rests on."""

from topshap.attribution.entry import aattribute, attribute
from topshap.attribution.estimate import CostEstimate
from topshap.attribution.result import Attribution

__all__ = ["Attribution", "CostEstimate", "aattribute", "attribute"]
