export type EditKey =
  | 'undo'
  | 'redo'
  | 'save'
  | 'play'
  | 'back'
  | 'forward'
  | 'start'
  | 'end'
  | 'add'
  | 'previous'
  | 'next';

/** With Alt, by the place of the key: letters of other layouts and of macOS differ. The letters are those of video editors. */
const altKeys: Readonly<Record<string, EditKey>> = {
  KeyK: 'play',
  KeyJ: 'back',
  KeyL: 'forward',
  KeyI: 'start',
  KeyO: 'end',
  KeyN: 'add',
  ArrowUp: 'previous',
  ArrowDown: 'next',
};

interface Press {
  readonly code: string;
  readonly key: string;
  readonly altKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly shiftKey: boolean;
}

/** Returns what a key does in an editor beside the player; undefined for keys that type. */
export function editKeyOf({ code, key, altKey, ctrlKey, metaKey, shiftKey }: Press): EditKey | undefined {
  const isCommand = ctrlKey !== metaKey;
  if (altKey) return isCommand || ctrlKey || shiftKey ? undefined : altKeys[code];
  if (!isCommand) return undefined;
  switch (key.toLowerCase()) {
    case 'z':
      return shiftKey ? 'redo' : 'undo';
    case 'y':
      return shiftKey ? undefined : 'redo';
    case 's':
      return shiftKey ? undefined : 'save';
    default:
      return undefined;
  }
}

/** Shortcuts with what they do, as they are written for readers. */
export const shortcuts = [
  ['Alt K', 'play'],
  ['Alt J', 'back'],
  ['Alt L', 'forward'],
  ['Alt I', 'start'],
  ['Alt O', 'end'],
  ['Alt N', 'add'],
  ['Alt ↑ ↓', 'step'],
  ['Ctrl Z', 'undo'],
  ['Ctrl Shift Z', 'redo'],
  ['Ctrl S', 'save'],
] as const;
