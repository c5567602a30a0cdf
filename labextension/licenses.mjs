/* global process, console */
// Completes the builder's list of third-party licences, and refuses a licence that nobody has looked at.
// The builder lists what webpack has bundled. Libraries that are imported as text (`…?raw`, minified by their makers)
// hold their dependencies, too: these are found in package-lock.json.
import fs from 'node:fs';
import path from 'node:path';

const HERE = import.meta.dirname;
const BUILT = path.join(HERE, '../jupyter_codeagent/labextension');
const REPORT = path.join(BUILT, 'static/third-party-licenses.json');
const ALLOWED = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'Unlicense'];
// Dependencies of the command-line programs and of the types of these libraries: not in their minified files.
const LEFT_OUT = /^(@types\/.*|vega-typings|commander|iconv-lite|rw|yargs)$/;

const locked = JSON.parse(fs.readFileSync(path.join(HERE, 'package-lock.json'), 'utf8')).packages;

/** The place of the package that Node.js would load for `name` from `place`. */
function resolve(place, name) {
  for (let from = place; ; from = from.slice(0, Math.max(from.lastIndexOf('/node_modules/'), 0))) {
    const found = `${from}${from && '/'}node_modules/${name}`;
    if (locked[found] || !from) {
      return found;
    }
  }
}

/** The places of a package and of all that its code consists of. */
function closure(place, seen = new Set()) {
  seen.add(place);
  for (const name of Object.keys(locked[place].dependencies ?? {})) {
    const found = resolve(place, name);
    if (!LEFT_OUT.test(name) && !seen.has(found)) {
      closure(found, seen);
    }
  }
  return seen;
}

/** Names of the packages of which a file is imported as text. */
function importedAsText(directory) {
  return fs.readdirSync(directory, { withFileTypes: true, recursive: true }).flatMap(entry => {
    const file = path.join(entry.parentPath ?? entry.path, entry.name);
    const text = entry.isFile() ? fs.readFileSync(file, 'utf8') : '';
    return [...text.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)\/[^']*\?raw'/g)].map(match => match[1]);
  });
}

function entryOf(place) {
  const directory = path.join(HERE, place);
  const file = fs.readdirSync(directory).find(name => /^licen[cs]e/i.test(name));
  return {
    name: place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length),
    versionInfo: locked[place].version,
    licenseId: locked[place].license ?? '',
    extractedText: file ? fs.readFileSync(path.join(directory, file), 'utf8') : ''
  };
}

const report = JSON.parse(fs.readFileSync(REPORT, 'utf8'));
const entries = new Map(report.packages.map(entry => [`${entry.name}@${entry.versionInfo}`, entry]));
for (const name of importedAsText(path.join(HERE, 'src'))) {
  for (const place of closure(`node_modules/${name}`)) {
    const entry = entryOf(place);
    entries.set(`${entry.name}@${entry.versionInfo}`, entry);
  }
}
const faults = [...entries.values()].flatMap(entry => {
  const name = `${entry.name} ${entry.versionInfo}`;
  if (!ALLOWED.includes(entry.licenseId)) {
    return [`${name} has the licence ${entry.licenseId || 'unknown'}: not one of ${ALLOWED.join(', ')}`];
  }
  return entry.extractedText ? [] : [`${name} has no licence file`];
});
if (faults.length > 0) {
  console.error(`What is shipped has licences to look at (labextension/licenses.mjs):\n${faults.join('\n')}`);
  fs.rmSync(path.join(BUILT, 'package.json')); // else the next build takes this one for done
  process.exit(1);
}
report.packages = [...entries.keys()].sort().map(key => entries.get(key));
fs.writeFileSync(REPORT, JSON.stringify(report, null, 2));
