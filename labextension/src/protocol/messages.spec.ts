/** The page's side of `tests/contract/messages.json`; the kernel's is `test_contract_messages.py`. */
import { TO_PAGE } from '../testing/golden';
import { isToPage, ProtocolError, readMessage } from './messages';

describe('every golden message of the kernel', () => {
  it.each(Object.entries(TO_PAGE))('%s is read as it is', (type, message) => {
    expect(readMessage(message)).toBe(message);
    expect(readMessage(message).type).toBe(type);
  });

  const fields = Object.entries(TO_PAGE).flatMap(([type, message]) =>
    Object.keys(message).map(field => [type, field] as const)
  );
  it.each(fields)('%s is refused without its %s', (type, field) => {
    const rest: Record<string, unknown> = { ...TO_PAGE[type as keyof typeof TO_PAGE] };
    delete rest[field];
    expect(() => readMessage(rest)).toThrow(ProtocolError);
  });

  it.each(fields)('%s is refused with a wrong %s', (type, field) => {
    expect(isToPage({ ...TO_PAGE[type as keyof typeof TO_PAGE], [field]: { no: 'such' } })).toBe(false);
  });
});

describe('what is no message', () => {
  it.each([[null], [undefined], [7], ['ping'], [[]], [{}], [{ type: 'constructor' }], [{ type: 'hello' }]])(
    '%j is refused',
    data => {
      expect(isToPage(data)).toBe(false);
    }
  );

  it('a newer kernel may send more fields', () => {
    expect(isToPage({ type: 'ping', later: 1 })).toBe(true);
  });

  it('the error tells the start of what came', () => {
    expect(() => readMessage({ type: 'x', long: 'y'.repeat(999) })).toThrow(
      /^Not a message of protocol 1: \{"type":"x".{0,200}$/
    );
  });
});
