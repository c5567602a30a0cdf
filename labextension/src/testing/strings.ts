/** The texts of the sources that a user reads, found by TypeScript's own parser. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

import ts from 'typescript';

const ROOT = join(import.meta.dirname, '..');

export interface IMessage {
  text: string;
  /** For another number than one. */
  plural?: string;
  where: string;
}

export interface IFound {
  /** What goes through the translator, as a literal. */
  messages: IMessage[];
  /** What a user would read in English whatever the language: texts in JSX, and attributes that are read. */
  untranslated: string[];
  /** Calls of the translator whose text no tool can find. */
  computed: string[];
}

const READ_ATTRIBUTES = ['aria-label', 'title', 'placeholder', 'label', 'alt', 'aria-description'];
/** Properties of DOM nodes and widgets, and what they are set to. */
const READ_PROPERTIES = ['title', 'placeholder', 'ariaLabel', 'caption', 'textContent', 'innerText'];
const HAS_WORD = /\p{L}{2}/u;

export function stringsOfSources(): IFound {
  const found: IFound = { messages: [], untranslated: [], computed: [] };
  for (const file of sourceFiles(ROOT)) {
    const text = readFileSync(file, 'utf-8');
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true, scriptKind(file));
    visit(source, source, relative(ROOT, file), found);
  }
  return found;
}

/** Of a text of its own, for the test of this module. */
export function stringsOf(text: string): IFound {
  const found: IFound = { messages: [], untranslated: [], computed: [] };
  const source = ts.createSourceFile('text.tsx', text, ts.ScriptTarget.ES2022, true, ts.ScriptKind.TSX);
  visit(source, source, 'text.tsx', found);
  return found;
}

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      return entry.name === 'testing' ? [] : sourceFiles(path);
    }
    return /(?<!\.spec|\.d)\.tsx?$/.test(entry.name) ? [path] : [];
  });
}

function scriptKind(file: string): ts.ScriptKind {
  return file.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
}

function visit(node: ts.Node, source: ts.SourceFile, file: string, found: IFound): void {
  const where = (): string => `${file}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
  const complain = (text: string): number => found.untranslated.push(`${where()}: ${text.trim()}`);
  if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
    const called = node.expression.name.text;
    if (called === '__' || called === '_n') {
      const [text, plural] = [node.arguments[0], node.arguments[1]].map(literal);
      if (text === undefined || (called === '_n' && plural === undefined)) {
        found.computed.push(where());
      } else {
        found.messages.push({ text, ...(called === '_n' ? { plural } : {}), where: where() });
      }
    }
    if (called === 'setAttribute' && READ_ATTRIBUTES.includes(literal(node.arguments[0]) ?? '')) {
      english(node.arguments[1]).forEach(complain);
    }
  }
  if (ts.isJsxText(node) && HAS_WORD.test(node.text)) {
    complain(node.text);
  }
  if (ts.isJsxExpression(node) && node.parent && ts.isJsxElement(node.parent)) {
    english(node.expression).forEach(complain);
  }
  if (ts.isJsxAttribute(node) && READ_ATTRIBUTES.includes(node.name.getText()) && node.initializer) {
    const { initializer } = node;
    english(ts.isJsxExpression(initializer) ? initializer.expression : initializer).forEach(complain);
  }
  if (
    ts.isBinaryExpression(node) &&
    node.operatorToken.kind === ts.SyntaxKind.EqualsToken &&
    ts.isPropertyAccessExpression(node.left) &&
    READ_PROPERTIES.includes(node.left.name.text)
  ) {
    english(node.right).forEach(complain);
  }
  ts.forEachChild(node, child => visit(child, source, file, found));
}

/** A string literal, also one of several that are joined. */
function literal(node: ts.Node | undefined): string | undefined {
  if (node && ts.isStringLiteralLike(node)) {
    return node.text;
  }
  if (node && ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const [left, right] = [literal(node.left), literal(node.right)];
    return left === undefined || right === undefined ? undefined : left + right;
  }
  return undefined;
}

/** Words that are displayed as they are: a literal, a choice between literals, a template. */
function english(node: ts.Node | undefined): string[] {
  if (!node) {
    return [];
  }
  if (ts.isStringLiteralLike(node)) {
    return HAS_WORD.test(node.text) ? [node.text] : [];
  }
  if (ts.isTemplateExpression(node)) {
    const texts = [node.head.text, ...node.templateSpans.map(span => span.literal.text)];
    return texts.filter(text => HAS_WORD.test(text));
  }
  if (ts.isConditionalExpression(node)) {
    return [...english(node.whenTrue), ...english(node.whenFalse)];
  }
  return ts.isParenthesizedExpression(node) ? english(node.expression) : [];
}
