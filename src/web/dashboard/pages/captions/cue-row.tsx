import { useRef } from 'preact/hooks';
import { t } from '../../texts/video.ts';
import { IconButton } from '../../ui/button.tsx';
import { Field, TextField } from '../../ui/form/field.tsx';
import { Menu, type MenuItem } from '../../ui/menu.tsx';
import type { Cue } from './caption-file.ts';
import type { CueFault } from './cue-faults.ts';

export type CueAction =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'time'; readonly edge: 'start' | 'end'; readonly time: string }
  | { readonly kind: 'split'; readonly cursor: number }
  | { readonly kind: 'to-player'; readonly edge: 'start' | 'end' }
  | { readonly kind: 'merge' | 'add' | 'remove' };

const maxRows = 5;

interface CueRowProps {
  readonly cue: Cue;
  readonly number: number;
  readonly language: string;
  readonly isShown: boolean;
  readonly onSeek: () => void;
}

export function CueRow({
  cue,
  number,
  language,
  isShown,
  isLast,
  fault,
  warning,
  onSeek,
  onFocus,
  onAction,
}: CueRowProps & {
  isLast: boolean;
  fault: CueFault | undefined;
  warning: string | undefined;
  /** The focus has come from elsewhere. */
  onFocus: () => void;
  onAction: (action: CueAction) => void;
}) {
  const text = useRef<HTMLTextAreaElement>(null);
  const items: MenuItem[] = [
    {
      label: t('cue.split'),
      icon: 'clip',
      onClick: () => onAction({ kind: 'split', cursor: text.current?.selectionStart ?? 0 }),
    },
    ...(isLast
      ? []
      : [{ label: t('cue.merge'), icon: 'link', onClick: () => onAction({ kind: 'merge' }) } as const]),
    { label: t('cue.addBelow'), icon: 'plus', onClick: () => onAction({ kind: 'add' }) },
    { label: t('cue.delete'), icon: 'trash', danger: true, onClick: () => onAction({ kind: 'remove' }) },
  ];
  return (
    <li
      class="cue-row"
      data-cue={cue.id}
      aria-current={isShown ? 'true' : undefined}
      onFocusIn={({ currentTarget, relatedTarget, target }) => {
        // A button may be about to use the player's position.
        const isField = target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
        if (isField && !isShown && !currentTarget.contains(relatedTarget as Node | null)) onFocus();
      }}
    >
      <SeekButton number={number} onSeek={onSeek} />
      <div class="cue-times">
        {(['start', 'end'] as const).map(edge => (
          <div key={edge} class="time-with-button">
            <TextField
              label={t(`cue.times.${edge}`, { number })}
              hideLabel
              spellcheck={false}
              value={cue[edge]}
              onValue={time => onAction({ kind: 'time', edge, time })}
              error={fault?.[edge]}
            />
            <IconButton
              icon="clock"
              label={t(`cue.current.${edge}`, { number })}
              onClick={() => onAction({ kind: 'to-player', edge })}
            />
          </div>
        ))}
      </div>
      <Field
        label={t('cue.text', { number })}
        hideLabel
        error={fault?.text}
        hint={warning && <span class="cue-warning">{warning}</span>}
      >
        {attributes => (
          <textarea
            {...attributes}
            ref={text}
            lang={language}
            dir="auto"
            rows={Math.min(maxRows, Math.max(2, cue.text.split('\n').length))}
            value={cue.text}
            onInput={event => onAction({ kind: 'text', text: event.currentTarget.value })}
          />
        )}
      </Field>
      <Menu label={t('cue.actions', { number })} items={items} />
    </li>
  );
}

export function ReadOnlyCueRow({ cue, number, language, isShown, onSeek }: CueRowProps) {
  return (
    <li class="cue-row read-only" data-cue={cue.id} aria-current={isShown ? 'true' : undefined}>
      <SeekButton number={number} onSeek={onSeek} />
      <p class="number">
        {cue.start} – {cue.end}
      </p>
      <p class="cue-text" lang={language} dir="auto">
        {cue.text}
      </p>
    </li>
  );
}

function SeekButton({ number, onSeek }: { number: number; onSeek: () => void }) {
  const label = t('cue.goTo', { number });
  return (
    <button type="button" class="row-number" aria-label={label} title={label} onClick={onSeek}>
      {number}
    </button>
  );
}
