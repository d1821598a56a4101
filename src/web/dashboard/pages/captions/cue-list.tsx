import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { t } from '../../texts/video.ts';
import { Pagination } from '../../ui/pagination.tsx';
import type { Cue } from './caption-file.ts';
import type { CueCheck } from './cue-faults.ts';
import { type CueAction, CueRow, ReadOnlyCueRow } from './cue-row.tsx';

/** A page stays fast to edit, whatever the length of the file. */
const cuesPerPage = 50;

export interface CueFocus {
  readonly id: number;
  readonly part: 'text' | 'fault';
  /** The player goes to the cue. Unset after edits, which leave it where it is. */
  readonly seeks?: boolean | undefined;
}

export function pageOfCue(cues: readonly Cue[], id: number): number {
  return (
    Math.floor(
      Math.max(
        0,
        cues.findIndex(cue => cue.id === id),
      ) / cuesPerPage,
    ) + 1
  );
}

export function CueList({
  cues,
  check: { faults, warnings },
  language,
  shownId,
  page,
  focus,
  isReadOnly,
  onPage,
  onSeek,
  onAction,
  listRef,
}: {
  cues: readonly Cue[];
  check: CueCheck;
  language: string;
  shownId: number | undefined;
  page: number;
  /** Focused once it is rendered, then cleared. */
  focus: { current: CueFocus | undefined };
  isReadOnly: boolean;
  onPage: (page: number) => void;
  onSeek: (cue: Cue) => void;
  onAction: (cue: Cue, action: CueAction) => void;
  listRef: RefObject<HTMLOListElement | null>;
}) {
  const pagesTotal = Math.max(1, Math.ceil(cues.length / cuesPerPage));
  const currentPage = Math.min(page, pagesTotal);
  const first = (currentPage - 1) * cuesPerPage;
  const onPageCues = cues.slice(first, first + cuesPerPage);
  const isFocusing = useRef(false);
  // Runs before the paint, so that no keystroke is lost.
  useLayoutEffect(() => {
    if (focus.current === undefined) return;
    const { id, part, seeks = false } = focus.current;
    focus.current = undefined;
    const target = part === 'text' ? 'textarea' : '[aria-invalid=true]';
    isFocusing.current = !seeks;
    listRef.current?.querySelector<HTMLElement>(`[data-cue="${id}"] ${target}`)?.focus();
    isFocusing.current = false;
  });
  return (
    <>
      <ol class="cue-list" ref={listRef} start={first + 1} aria-label={t('captionEditor.cues')}>
        {onPageCues.map((cue, index) => {
          const row = {
            cue,
            language,
            number: first + index + 1,
            isShown: cue.id === shownId,
            onSeek: () => onSeek(cue),
          };
          return isReadOnly ? (
            <ReadOnlyCueRow key={cue.id} {...row} />
          ) : (
            <CueRow
              key={cue.id}
              {...row}
              isLast={cue === cues.at(-1)}
              fault={faults.get(cue.id)}
              warning={warnings.get(cue.id)}
              onFocus={() => {
                if (!isFocusing.current) onSeek(cue);
              }}
              onAction={action => onAction(cue, action)}
            />
          );
        })}
      </ol>
      <Pagination
        what="cues"
        pagination={{
          currentPage,
          pageSize: cuesPerPage,
          pagesTotal,
          currentPageItems: onPageCues.length,
          itemsTotal: cues.length,
          links: [],
        }}
        onPage={onPage}
      />
    </>
  );
}
