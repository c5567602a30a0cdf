/** Figures for people. */
import type { TranslationBundle } from '@jupyterlab/translation';

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function formatBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(bytes, 1)) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[power]}`;
}

/** @param digits after the point, below a minute; 0 while it is still counting */
export function formatSeconds(seconds: number, digits = 1): string {
  if (seconds < 59.95) {
    return `${seconds.toFixed(digits)} s`;
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
  usage: { prompt_tokens: number; completion_tokens: number; cached_tokens?: number; estimated?: boolean }
): string {
  const input = formatCount(usage.prompt_tokens);
  const output = formatCount(usage.completion_tokens);
  if (usage.estimated) {
    return trans.__('about %1 tokens in · %2 out', input, output);
  }
  return usage.cached_tokens
    ? trans.__('%1 tokens in (%2 cached) · %3 out', input, formatCount(usage.cached_tokens), output)
    : trans.__('%1 tokens in · %2 out', input, output);
}

export function formatClock(secondsSinceEpoch: number): string {
  return new Date(secondsSinceEpoch * 1000).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
}

/** 950, 1.3k, 24k: where the size counts and not the digits. */
export function formatShort(count: number): string {
  return count < 1000 ? String(count) : `${(count / 1000).toFixed(count < 9950 ? 1 : 0)}k`;
}

/** A day in the words of a list; milliseconds since the epoch. */
export function formatDay(trans: TranslationBundle, day: number, now = new Date()): string {
  const date = new Date(day);
  const yesterday = new Date(now);
  yesterday.setDate(now.getDate() - 1);
  if (date.toDateString() === now.toDateString()) {
    return trans.__('Today');
  }
  if (date.toDateString() === yesterday.toDateString()) {
    return trans.__('Yesterday');
  }
  const year = date.getFullYear() === now.getFullYear() ? undefined : 'numeric';
  return date.toLocaleDateString([], { weekday: 'short', day: 'numeric', month: 'long', year });
}

/** Date and time, whole. */
export function formatMoment(secondsSinceEpoch: number): string {
  return new Date(secondsSinceEpoch * 1000).toLocaleString([], { dateStyle: 'medium', timeStyle: 'medium' });
}
