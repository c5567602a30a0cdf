"""The embedded model: weights, llama.cpp server and catalogue."""
