import { signal } from '@preact/signals';
import { problemOf } from '../api/problem.ts';
import { IconButton } from './button.tsx';

interface Toast {
  readonly id: number;
  readonly tone: 'good' | 'bad';
  readonly text: string;
}

const toasts = signal<readonly Toast[]>([]);
const shownMs = 6_000;
/** Bad news stays long enough to be read twice. */
const badShownMs = 15_000;
const atMost = 4;
let count = 0;

/** Says that something worked. */
export function tell(text: string): void {
  add('good', text);
}

/** Says that something did not work, and why. */
export function tellProblem(error: unknown): void {
  add('bad', problemOf(error).text);
}

/** Where short messages appear, and are read out. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, tone, text }) => (
        <div key={id} class={`toast ${tone}`}>
          <span>{text}</span>
          <IconButton icon="close" label="Dismiss" onClick={() => remove(id)} />
        </div>
      ))}
    </div>
  );
}

function add(tone: Toast['tone'], text: string): void {
  count += 1;
  const id = count;
  toasts.value = [...toasts.value, { id, tone, text }].slice(-atMost);
  setTimeout(() => remove(id), tone === 'good' ? shownMs : badShownMs);
}

function remove(id: number): void {
  toasts.value = toasts.value.filter(toast => toast.id !== id);
}
