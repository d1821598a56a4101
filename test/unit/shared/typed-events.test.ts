import { expect, test } from 'vitest';
import { TypedEvents } from '../../../src/shared/typed-events.ts';

interface Events {
  'thing-happened': { readonly count: number };
  'other-happened': string;
}

test('every handler of an event is called, in the order of their coming, until it leaves', () => {
  const events = new TypedEvents<Events>();
  const seen: string[] = [];
  const leave = events.on('thing-happened', ({ count }) => seen.push(`first ${count}`));
  events.on('thing-happened', ({ count }) => seen.push(`second ${count}`));
  events.on('other-happened', text => seen.push(text));
  events.emit('thing-happened', { count: 1 });
  leave();
  leave();
  events.emit('thing-happened', { count: 2 });
  events.emit('other-happened', 'other');
  expect(seen).toEqual(['first 1', 'second 1', 'second 2', 'other']);
});

test('nobody needs to listen', () => {
  new TypedEvents<Events>().emit('other-happened', 'unheard');
});

test('a handler may leave, and another come, while an event is told: that counts from the next one on', () => {
  const events = new TypedEvents<Events>();
  const seen: string[] = [];
  const leave = events.on('other-happened', () => {
    seen.push('first');
    leave();
    events.on('other-happened', () => seen.push('late'));
  });
  events.on('other-happened', () => seen.push('second'));
  events.emit('other-happened', '');
  expect(seen).toEqual(['first', 'second']);
  events.emit('other-happened', '');
  expect(seen).toEqual(['first', 'second', 'second', 'late']);
});
