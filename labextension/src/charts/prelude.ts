/**
 * The first script of the inner frame, as text; it runs before any content.
 *
 * A browser resolves and connects to the host of `<link rel=preconnect>` and `rel=dns-prefetch` whatever the policy
 * says, and a host's name is a message. So no link can come into being here, and no frame in which one could be
 * written: elements of these names are not created, and text is parsed only if none of them is in it. The latter is
 * what Trusted Types are for: the policy of the outer frame demands them, and this script takes the only name.
 *
 * The content runs afterwards in the same window and may replace whatever is built in: only what is kept in constants
 * here may be used later, and only through `apply`.
 */
export const PRELUDE = `(() => {
  if (typeof trustedTypes === 'undefined') {
    document.body.textContent = 'This browser has no Trusted Types: it cannot close the frame, so nothing is run.';
    return;
  }
  const { apply } = Reflect;
  const { defineProperty, getOwnPropertyDescriptor } = Object;
  const { exec } = RegExp.prototype;
  const names = 'link iframe frame frameset object embed portal fencedframe meta base template'.split(' ');
  const refused = Object.create(null);
  for (const name of names.slice(0, -1)) refused[name] = true;
  const localName = getOwnPropertyDescriptor(Element.prototype, 'localName').get;
  const rootOf = getOwnPropertyDescriptor(Document.prototype, 'documentElement').get;
  const check = element => {
    if (element !== null && refused[apply(localName, element, [])]) throw new TypeError('not in a closed frame');
  };
  const fix = (owner, name, value) =>
    defineProperty(owner, name, { value, writable: false, configurable: false, enumerable: true });
  const wrap = (owner, name, made) => {
    const original = owner[name];
    fix(owner, name, function (...given) {
      const result = apply(original, this, given);
      check(made(result));
      return result;
    });
  };
  wrap(Document.prototype, 'createElement', element => element);
  wrap(Document.prototype, 'createElementNS', element => element);
  wrap(DOMImplementation.prototype, 'createDocument', page => apply(rootOf, page, []));
  const never = () => { throw new TypeError('not in a closed frame'); };
  fix(CustomElementRegistry.prototype, 'define', never);
  for (const name of ['XSLTProcessor', 'Worker', 'SharedWorker']) fix(window, name, undefined);
  // A tag is named by the letters after its <, in XML after a prefix, too; an XML entity could hide them.
  const bad = new RegExp('<[^\\\\s<>/]*(?:' + names.join('|') + ')|<!entity|<\\\\?xml-stylesheet', 'i');
  const refusedSinks = new RegExp('srcdoc|write', 'i');
  let parsing = true;
  trustedTypes.createPolicy('default', {
    createHTML: (text, _, sink) =>
      parsing || apply(exec, bad, [text]) === null && apply(exec, refusedSinks, [sink]) === null ? text : null,
    createScript: text => text,
    createScriptURL: () => null
  });
  const held = document.getElementById('html');
  const page = held && new DOMParser().parseFromString(JSON.parse(held.textContent), 'text/html');
  parsing = false;
  if (page) fill(page);

  // Not written out and parsed again, which could make other elements of it. Without its scripts: see htmlPage.
  function fill(page) {
    for (const element of page.querySelectorAll([...names, 'script'].join(','))) element.remove();
    for (const anchor of page.querySelectorAll('a, area')) {
      anchor.removeAttribute('href');
      anchor.removeAttribute('xlink:href');
    }
    document.head.append(...page.head.childNodes);
    document.body.append(...page.body.childNodes);
  }
})();`;
