import { signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { problemOf } from '../api/problem.ts';
import { problemText } from '../format/problem-text.ts';
import { t } from '../texts/shell.ts';
import { Button, IconButton } from './button.tsx';

interface ToastAction {
  readonly label: string;
  readonly run: () => void;
}

interface Toast {
  readonly id: number;
  readonly tone: 'good' | 'bad';
  readonly text: string;
  readonly action?: ToastAction | undefined;
}

const toasts = signal<readonly Toast[]>([]);
const shownMs = 6_000;
const errorShownMs = 15_000;
/** Long enough to find and press with a screen reader. */
const actionShownMs = 20_000;
const maxToasts = 4;
let count = 0;

export function showToast(text: string, action?: ToastAction, tone: Toast['tone'] = 'good'): void {
  add({ tone, text, action });
}

export function showError(error: unknown): void {
  add({ tone: 'bad', text: problemText(problemOf(error)) });
}

export function Toasts() {
  const [isHovered, setHovered] = useState(false);
  const [isFocused, setFocused] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const origin = useRef<EventTarget | null>(null);
  const shown = toasts.value;
  useEffect(() => {
    // A removed message sends no `focusout`.
    if (!hasVisibleFocus(root.current)) setFocused(false);
    if (shown.length === 0) setHovered(false);
  }, [shown]);
  useEffect(
    () => () => {
      toasts.value = [];
    },
    [],
  );
  const close = (id: number) => {
    const hadFocus = root.current?.contains(document.activeElement) === true;
    remove(id);
    if (hadFocus) restoreFocus(origin.current);
  };
  return (
    <div
      ref={root}
      class="toasts"
      role="status"
      aria-live="polite"
      onPointerMove={({ pointerType, movementX, movementY }) => {
        // A message that appears under a pointer at rest moves nothing, and may cover what is pressed next.
        if (pointerType === 'mouse' && (movementX !== 0 || movementY !== 0)) setHovered(true);
      }}
      onPointerLeave={() => setHovered(false)}
      onFocusIn={({ relatedTarget }) => {
        if (!root.current?.contains(relatedTarget as Node | null)) origin.current = relatedTarget;
        setFocused(hasVisibleFocus(root.current));
      }}
      onFocusOut={({ relatedTarget }) =>
        setFocused(root.current?.contains(relatedTarget as Node | null) === true)
      }
    >
      {shown.map(toast => (
        <ToastBox
          key={toast.id}
          toast={toast}
          isHeld={isHovered || isFocused}
          onClose={() => close(toast.id)}
        />
      ))}
    </div>
  );
}

function ToastBox({
  toast: { tone, text, action },
  isHeld,
  onClose,
}: {
  toast: Toast;
  isHeld: boolean;
  onClose: () => void;
}) {
  const button = useRef<HTMLButtonElement>(null);
  const leftMs = useRef(action !== undefined ? actionShownMs : tone === 'good' ? shownMs : errorShownMs);
  // Runs before the next frame, so that a message never disappears under the pointer.
  useLayoutEffect(() => {
    if (isHeld) return;
    const startedAt = performance.now();
    const timer = setTimeout(onClose, leftMs.current);
    return () => {
      clearTimeout(timer);
      leftMs.current -= performance.now() - startedAt;
    };
  }, [isHeld]);
  useEffect(() => {
    if (action !== undefined && isKeyboardOnControl()) button.current?.focus();
  }, []);
  return (
    <div class={`toast ${tone}`}>
      <span>{text}</span>
      <span class="toast-buttons">
        {action !== undefined && (
          <Button
            small
            buttonRef={button}
            onClick={() => {
              onClose();
              action.run();
            }}
          >
            {action.label}
          </Button>
        )}
        <IconButton icon="close" label={t('toast.dismiss')} onClick={onClose} />
      </span>
    </div>
  );
}

function add(toast: Omit<Toast, 'id'>): void {
  count += 1;
  toasts.value = [...toasts.value, { ...toast, id: count }].slice(-maxToasts);
}

function remove(id: number): void {
  toasts.value = toasts.value.filter(toast => toast.id !== id);
}

function hasVisibleFocus(element: HTMLElement | null): boolean {
  return element?.querySelector(':focus-visible') != null;
}

function isKeyboardOnControl(): boolean {
  return document.activeElement?.matches(':is(button, a, h1, [type=checkbox]):focus-visible') === true;
}

function restoreFocus(origin: EventTarget | null): void {
  const isThere = origin instanceof HTMLElement && origin.isConnected;
  (isThere ? origin : document.querySelector<HTMLElement>('main'))?.focus();
}
