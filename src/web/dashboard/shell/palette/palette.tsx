import { useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { withBasePath } from '../../../shared/base-path.ts';
import { session } from '../../state/session.ts';
import { t } from '../../texts/search.ts';
import { t as shared } from '../../texts/shell.ts';
import { Button } from '../../ui/button.tsx';
import { useLocation } from '../../ui/hooks/use-location.ts';
import { Icon } from '../../ui/icon.tsx';
import type { PaletteEntry, PaletteGroup } from './entry.ts';
import { findEntries } from './find-entries.ts';
import { actionEntries, pageEntries, settingEntries } from './fixed-entries.ts';
import { PaletteResults } from './palette-results.tsx';
import { recentEntries, rememberEntry } from './recent-entries.ts';
import { useFoundEntries } from './use-found-entries.ts';

const maxOfKind = 5;

/** One field that finds media, pages, settings, documentation and actions. */
export function Palette({ onClose }: { onClose: () => void }) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState('');
  const [wanted, setWanted] = useState<string>();
  const query = typed.trim();
  const { groups, isSearching, hasFailed, retry, choose } = useEntries(query, onClose);
  const entries = groups.flatMap(group => group.entries);
  const active = entries.find(entry => entry.id === wanted) ?? entries[0];
  useModal(dialog, input);
  const optionId = (entry: PaletteEntry) => `${id}-${entry.id}`;
  const move = (to: number) => {
    const next = entries.at(to % Math.max(1, entries.length));
    setWanted(next?.id);
    if (next !== undefined) document.getElementById(optionId(next))?.scrollIntoView({ block: 'nearest' });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    const at = active === undefined ? -1 : entries.indexOf(active);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    // A click, which a page with unsaved changes holds.
    if (event.key === 'Enter' && active !== undefined)
      press(document.getElementById(optionId(active)), event);
    else if (next !== undefined && entries.length > 0) move(next);
    else return;
    event.preventDefault();
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does the same
    <dialog
      ref={dialog}
      class="palette"
      aria-label={t('search.title')}
      onCancel={event => {
        event.preventDefault();
        onClose();
      }}
      onClick={event => {
        if (event.target === dialog.current) onClose();
      }}
    >
      <div class="palette-content">
        <div class="palette-field">
          <Icon name="search" />
          <input
            ref={input}
            type="text"
            role="combobox"
            aria-label={t('search.title')}
            aria-expanded={entries.length > 0}
            aria-controls={`${id}-list`}
            aria-autocomplete="list"
            aria-activedescendant={active && optionId(active)}
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            enterkeyhint="go"
            maxLength={200}
            placeholder={shared('shell.search')}
            value={typed}
            onInput={event => {
              setTyped(event.currentTarget.value);
              setWanted(undefined);
            }}
            onKeyDown={onKeyDown}
          />
          <Button kind="quiet" small onClick={onClose}>
            {shared('dialog.close')}
          </Button>
        </div>
        <PaletteResults
          id={`${id}-list`}
          groups={groups}
          active={active}
          optionId={optionId}
          onHover={entry => setWanted(entry.id)}
          onChoose={choose}
        />
        <div class="palette-state">
          {hasFailed && (
            <p role="alert">
              {t('search.failed')}{' '}
              <button type="button" class="text-button" onClick={retry}>
                {t('search.tryAgain')}
              </button>
            </p>
          )}
          <p role="status">{statusText(query, entries.length, isSearching, hasFailed)}</p>
        </div>
      </div>
    </dialog>
  );
}

/** Opens the dialog, and gives the focus back at its end. */
function useModal(
  dialog: { readonly current: HTMLDialogElement | null },
  input: { readonly current: HTMLInputElement | null },
): void {
  useLayoutEffect(() => {
    const element = dialog.current!;
    const opener = document.activeElement;
    element.showModal();
    input.current?.focus();
    return () => {
      element.close();
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
}

function useEntries(query: string, onClose: () => void) {
  const { path, route } = useLocation();
  const found = useFoundEntries(query);
  // Entries change with the session only, such as with your role, and choosing one closes this.
  const fixed = useMemo(
    () => ({ actions: actionEntries(path, route), pages: pageEntries(), settings: settingEntries() }),
    [session.value],
  );
  const all = [...fixed.actions, ...fixed.pages, ...fixed.settings];
  const recent = useMemo(() => recentEntries(all), [session.value]);
  const groups: readonly PaletteGroup[] =
    query === ''
      ? [
          { title: t('search.group.recent'), entries: recent },
          { title: t('search.group.actions'), entries: without(recent, fixed.actions).slice(0, maxOfKind) },
          { title: t('search.group.pages'), entries: without(recent, fixed.pages) },
        ]
      : [
          { title: t('search.group.actions'), entries: findEntries(fixed.actions, query, maxOfKind) },
          { title: t('search.group.pages'), entries: findEntries(fixed.pages, query, maxOfKind) },
          { title: t('search.group.settings'), entries: findEntries(fixed.settings, query, maxOfKind) },
          ...found.groups,
        ];
  const choose = (entry: PaletteEntry, isInNewTab: boolean) => {
    rememberEntry(entry);
    onClose();
    const { href } = entry;
    if (href === undefined) entry.run?.();
    else if (isInNewTab || href.startsWith('/docs')) window.open(withBasePath(href), '_blank', 'noreferrer');
    else route(href);
  };
  return { ...found, groups: groups.filter(({ entries }) => entries.length > 0), choose };
}

function without(recent: readonly PaletteEntry[], entries: readonly PaletteEntry[]): readonly PaletteEntry[] {
  return entries.filter(({ id }) => !recent.some(one => one.id === id));
}

function press(option: HTMLElement | null, { ctrlKey, metaKey }: KeyboardEvent): void {
  option?.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, ctrlKey, metaKey }));
}

function statusText(query: string, count: number, isSearching: boolean, hasFailed: boolean): string {
  if (query === '' || hasFailed) return '';
  if (isSearching) return t('search.searching');
  return count === 0 ? t('search.none', { query }) : t('search.found', { count });
}
