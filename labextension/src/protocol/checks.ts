/** Checks of JSON from outside this page, composed like the types they check for. Unknown keys are allowed. */
export type Check = (value: unknown) => boolean;

export const string: Check = value => typeof value === 'string';
export const number: Check = value => typeof value === 'number';
export const boolean: Check = value => typeof value === 'boolean';

export const nullable =
  (check: Check): Check =>
  value =>
    value === null || check(value);

export const optional =
  (check: Check): Check =>
  value =>
    value === undefined || check(value);

export const either =
  (...checks: Check[]): Check =>
  value =>
    checks.some(check => check(value));

export const oneOf =
  (...values: unknown[]): Check =>
  value =>
    values.includes(value);

export const arrayOf =
  (check: Check): Check =>
  value =>
    Array.isArray(value) && value.every(check);

export const mapOf =
  (check: Check): Check =>
  value =>
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(check);

export const shape =
  (fields: Record<string, Check>): Check =>
  value =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.entries(fields).every(([name, check]) => check((value as Record<string, unknown>)[name]));
