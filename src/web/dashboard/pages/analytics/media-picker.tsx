import { useId, useRef, useState } from 'preact/hooks';
import { problemText } from '../../format/problem-text.ts';
import { t } from '../../texts/server.ts';
import { IconButton } from '../../ui/button.tsx';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { useSettled } from '../../ui/hooks/use-timers.ts';
import { Icon } from '../../ui/icon.tsx';
import { loadMedia, type Media, searchMedia } from './media.ts';

const pauseMs = 250;

export function MediaPicker({
  value,
  onValue,
}: {
  value: string | undefined;
  onValue: (id: string | undefined) => void;
}) {
  if (value === undefined) return <MediaSearch onChosen={onValue} />;
  return <ChosenMedia id={value} onClear={() => onValue(undefined)} />;
}

function ChosenMedia({ id, onClear }: { id: string; onClear: () => void }) {
  const media = useLoad(id, async signal => (await loadMedia([id], signal))[0]);
  const name = media.value?.name ?? (media.problem === undefined ? '…' : id);
  return (
    <div class="media-picker">
      <p class="media-label">{t('media.showing')}</p>
      <div class="media-chosen">
        <Icon name={id.startsWith('li') ? 'live' : 'video'} size={18} />
        <span>{name}</span>
        <IconButton icon="close" label={t('media.showAll')} onClick={onClear} />
      </div>
    </div>
  );
}

function MediaSearch({ onChosen }: { onChosen: (id: string) => void }) {
  const id = useId();
  const root = useRef<HTMLDivElement>(null);
  const [text, setText] = useState('');
  const query = useSettled(text.trim(), pauseMs);
  const [isOpen, setOpen] = useState(false);
  const [pointed, setPointed] = useState<string>();
  const results = useLoad(`${isOpen} ${query}`, signal =>
    isOpen ? searchMedia(query, signal) : Promise.resolve([]),
  );
  const offered = isOpen ? (results.value ?? []) : [];
  const at = offered.findIndex(media => media.id === pointed);
  const choose = (media: Media | undefined) => {
    if (media !== undefined) onChosen(media.id);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const moved = { ArrowDown: at + 1, ArrowUp: at <= 0 ? offered.length - 1 : at - 1 }[event.key];
    if (moved !== undefined) {
      setOpen(true);
      if (offered.length > 0) setPointed(offered[moved % offered.length]?.id);
    } else if (event.key === 'Enter' && at >= 0) choose(offered[at]);
    else if (event.key === 'Escape' && isOpen) setOpen(false);
    else return;
    event.preventDefault();
  };
  const isEmpty = isOpen && !results.isLoading && offered.length === 0;
  return (
    <div
      class="media-picker"
      ref={root}
      onFocusOut={event => {
        if (!root.current?.contains(event.relatedTarget as Node | null)) setOpen(false);
      }}
    >
      <div class="field">
        <label for={id}>{t('media.label')}</label>
        <input
          id={id}
          type="text"
          role="combobox"
          aria-expanded={isOpen}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={at >= 0 ? `${id}-${at}` : undefined}
          autocomplete="off"
          placeholder={t('media.placeholder')}
          value={text}
          onFocus={() => setOpen(true)}
          onClick={() => setOpen(true)}
          onInput={event => {
            setText(event.currentTarget.value);
            setOpen(true);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div
        class="media-list"
        role="listbox"
        id={`${id}-list`}
        aria-label={t('media.results')}
        hidden={offered.length === 0}
      >
        {offered.map((media, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the text field
          <div
            key={media.id}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            onClick={() => choose(media)}
          >
            <Icon name={media.kind} size={18} />
            <span>{media.name}</span>
          </div>
        ))}
      </div>
      <p class="for-readers" role="status">
        {isEmpty
          ? t('media.noResults')
          : offered.length > 0
            ? t('media.resultCount', { count: offered.length })
            : ''}
      </p>
      {isEmpty && (
        <p class="media-list nothing">
          {results.problem === undefined ? t('media.noResults') : problemText(results.problem)}
        </p>
      )}
    </div>
  );
}
