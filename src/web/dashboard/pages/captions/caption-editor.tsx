import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Video } from '../../api/api-types.ts';
import { problemOf } from '../../api/problem.ts';
import { languageName } from '../../format/languages.ts';
import { localUrl } from '../../format/local-url.ts';
import { videoStateOf } from '../../format/video-state.ts';
import { shortTitleOf, titleOf } from '../../format/video-title.ts';
import { session } from '../../state/session.ts';
import { t } from '../../texts/video.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx';
import { LeaveGuard } from '../../ui/dialog/leave-guard.tsx';
import { ProblemNotice } from '../../ui/dialog/problem-notice.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { Notice } from '../../ui/notice.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { showToast } from '../../ui/toast.tsx';
import { PlayerFrame } from '../video/player-frame.tsx';
import { sendTrack } from '../video/tracks/tracks.ts';
import { useOwnAssets, useVideoStatus } from '../video/use-video.ts';
import { tabHref } from '../video/video-tabs.ts';
import { type CaptionFile, type Cue, formatCaptionFile, sortCues } from './caption-file.ts';
import { checkCues } from './cue-faults.ts';
import { CueList } from './cue-list.tsx';
import { seekPlayer } from './move-player.ts';
import { ShiftDialog } from './shift-dialog.tsx';
import { ShortcutList } from './shortcut-list.tsx';
import { Timeline } from './timeline/timeline.tsx';
import { useCueEditing } from './use-cue-editing.ts';
import { useCueKeys } from './use-cue-keys.ts';
import { useFrameVideo, useShownCue } from './use-frame-video.ts';

interface StoredCaptions {
  /** Undefined for captions that are not on the server yet. */
  readonly text: string | undefined;
  readonly file: CaptionFile;
}

export function CaptionEditor({
  video,
  language,
  stored: first,
  load,
}: {
  video: Video;
  language: string;
  stored: StoredCaptions;
  /** The file as it is on the server now. */
  load: () => Promise<string | undefined>;
}) {
  const { videoId } = video;
  const [stored, setStored] = useState(first);
  const [dialog, setDialog] = useState<'shift' | 'replace'>();
  const [frame, setFrame] = useState<HTMLIFrameElement | null>(null);
  const list = useRef<HTMLOListElement>(null);
  const status = useVideoStatus(videoId, video).value;
  const assets = useOwnAssets(video);
  const player = useFrameVideo(frame);
  const playerMs = () => (player?.currentTime ?? 0) * 1000;
  const editing = useCueEditing(stored.file, playerMs);
  const { file } = editing;
  const { cues } = file;
  const shownId = useShownCue(player, cues);
  const seconds = status?.encoding.metadata.duration ?? undefined;
  const check = useMemo(
    () => checkCues(cues, seconds === undefined ? undefined : seconds * 1000),
    [cues, seconds],
  );
  const isReadOnly = !session.value?.scopes.includes('upload');
  const isChanged = file !== stored.file;
  useFollow(shownId, list, id => editing.show(file, id));

  const send = async () => {
    const sorted = sortCues(file);
    const text = formatCaptionFile(sorted);
    await sendTrack('captions', videoId, language, text);
    setStored({ text, file: sorted });
    editing.settle(file, sorted);
    showToast(t('captionEditor.saved'));
  };
  const submission = useSubmit(async () => {
    const [fault] = check.faults.keys();
    if (fault !== undefined) {
      editing.show(file, fault, 'fault', true);
      return;
    }
    const current = await load().catch((error: unknown) => {
      if (problemOf(error).status === 404) return undefined;
      throw error;
    });
    if (current === stored.text) await send();
    else setDialog('replace');
  });
  const seek = (cue: Cue) => seekPlayer(player, cue.startMs / 1000);
  const save = () => {
    if (isChanged) submission.submit();
  };
  useCueKeys({ list, editing, player, shownId, isReadOnly, save });

  return (
    <Page
      title={
        isReadOnly
          ? t('captionEditor.captions')
          : stored.text === undefined
            ? t('captionEditor.write')
            : t('captionEditor.edit')
      }
      back={{ href: tabHref(videoId, 'captions'), label: shortTitleOf(video) }}
      badge={
        <>
          <Badge>{languageName(language)}</Badge>
          {isChanged && <Badge tone="warning">{t('captionEditor.unsaved')}</Badge>}
        </>
      }
    >
      <div class="caption-editor">
        <div class="caption-player">
          {assets !== undefined && (
            <PlayerFrame
              assets={assets}
              state={status && videoStateOf(video, status)}
              status={status}
              title={titleOf(video)}
              options="hide-poster"
              frameRef={setFrame}
            />
          )}
          {player !== undefined && assets !== undefined && (
            <Timeline
              hls={localUrl(assets.hls)}
              player={player}
              cues={cues}
              shownId={shownId}
              duration={seconds ?? (player.duration || 0)}
              isReadOnly={isReadOnly}
              onEdge={editing.drag}
            />
          )}
          {!isReadOnly && <ShortcutList />}
        </div>
        <div class="stack">
          {isReadOnly && <Notice>{t('captionEditor.readOnly')}</Notice>}
          {file.unreadable > 0 && (
            <Notice tone="warning">{t('captionEditor.unreadable', { count: file.unreadable })}</Notice>
          )}
          <Card
            title={t('captionEditor.cues')}
            actions={
              !isReadOnly && (
                <>
                  <IconButton
                    icon="restore"
                    label={t('captionEditor.undo')}
                    disabled={!editing.canUndo}
                    onClick={editing.undo}
                  />
                  <IconButton
                    icon="redo"
                    label={t('captionEditor.redo')}
                    disabled={!editing.canRedo}
                    onClick={editing.redo}
                  />
                  <Button small icon="clock" disabled={cues.length === 0} onClick={() => setDialog('shift')}>
                    {t('captionEditor.shiftAll')}
                  </Button>
                  <Button
                    small
                    icon="plus"
                    label={t('captionEditor.addLabel')}
                    onClick={() => editing.add(playerMs())}
                  >
                    {t('captionEditor.add')}
                  </Button>
                </>
              )
            }
          >
            {cues.length === 0 && (
              <EmptyState
                icon="captions"
                title={t('captionEditor.none')}
                action={
                  !isReadOnly && (
                    <Button kind="primary" icon="plus" onClick={() => editing.add(playerMs())}>
                      {t('captionEditor.addFirst')}
                    </Button>
                  )
                }
              >
                {isReadOnly ? t('captionEditor.noneRead') : t('captionEditor.noneText')}
              </EmptyState>
            )}
            <CueList
              cues={cues}
              check={check}
              language={language}
              shownId={shownId}
              isReadOnly={isReadOnly}
              page={editing.page}
              focus={editing.focus}
              listRef={list}
              onPage={editing.setPage}
              onSeek={seek}
              onAction={editing.act}
            />
          </Card>
          {!isReadOnly && (
            <div class="save-bar">
              <ProblemNotice problem={submission.notice} />
              <div class="actions">
                <p class="quiet" role="status">
                  {saveState(isChanged, stored !== first, check.faults.size)}
                </p>
                <Button
                  disabled={!isChanged || submission.busy}
                  onClick={() => {
                    submission.clear();
                    editing.reset(stored.file);
                  }}
                >
                  {t('captionEditor.discard')}
                </Button>
                <Button
                  kind="primary"
                  disabled={!isChanged}
                  busy={submission.busy}
                  onClick={() => submission.submit()}
                >
                  {t('captionEditor.save')}
                </Button>
              </div>
            </div>
          )}
        </div>
      </div>
      <LeaveGuard isActive={isChanged} />
      {dialog === 'shift' && (
        <ShiftDialog file={file} onShifted={editing.apply} onClose={() => setDialog(undefined)} />
      )}
      {dialog === 'replace' && (
        <ConfirmDialog
          title={t('captionEditor.replaceTitle')}
          action={t('captionEditor.replace')}
          work={send}
          onClose={() => setDialog(undefined)}
        >
          <p>{t('captionEditor.replaceText')}</p>
        </ConfirmDialog>
      )}
    </Page>
  );
}

/** Scrolls to the cue that the player shows, unless the list has the focus. */
function useFollow(
  shownId: number | undefined,
  list: { readonly current: HTMLOListElement | null },
  show: (id: number) => void,
): void {
  useEffect(() => {
    if (shownId === undefined || list.current?.contains(document.activeElement)) return;
    show(shownId);
    const frame = requestAnimationFrame(() =>
      list.current?.querySelector(`[data-cue="${shownId}"]`)?.scrollIntoView({ block: 'nearest' }),
    );
    return () => cancelAnimationFrame(frame);
  }, [shownId]);
}

/** Empty until something was changed. */
function saveState(isChanged: boolean, wasSaved: boolean, faults: number): string {
  if (faults > 0) return t('captionEditor.faults', { count: faults });
  if (isChanged) return t('captionEditor.notSaved');
  return wasSaved ? t('captionEditor.allSaved') : '';
}
