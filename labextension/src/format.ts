/** Figures for people. */
import type { TranslationBundle } from '@jupyterlab/translation';

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function formatBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(bytes, 1)) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[power]}`;
}

export function formatSeconds(seconds: number): string {
  if (seconds < 59.95) {
    return `${seconds.toFixed(1)} s`;
  }
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

export function formatCount(count: number): string {
  return count.toLocaleString();
}

export function formatTime(secondsSinceEpoch: number, now = new Date()): string {
  const time = new Date(secondsSinceEpoch * 1000);
  const clock = time.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  return time.toDateString() === now.toDateString()
    ? clock
    : `${time.toLocaleDateString([], { year: 'numeric', month: 'short', day: 'numeric' })}, ${clock}`;
}

export function formatTokens(
  trans: TranslationBundle,
  usage: { prompt_tokens: number; completion_tokens: number; cached_tokens?: number }
): string {
  const input = formatCount(usage.prompt_tokens);
  const output = formatCount(usage.completion_tokens);
  return usage.cached_tokens
    ? trans.__('%1 tokens in (%2 cached) · %3 out', input, formatCount(usage.cached_tokens), output)
    : trans.__('%1 tokens in · %2 out', input, output);
}
