import { useState } from 'preact/hooks';
import type { Hook, HookResult } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { projectKey } from '../../state/session.ts';
import { t } from '../../texts/developers.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy.tsx';
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx';
import { ProblemNotice } from '../../ui/dialog/problem-notice.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { Notice } from '../../ui/notice.tsx';
import { DetailList, Section } from '../../ui/page.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { LoadedContent } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { showToast } from '../../ui/toast.tsx';
import { errorDetail, formatAnswer, formatDuration } from './delivery-labels.ts';
import { HookForm } from './hook-form.tsx';

type HookKind = Hook['hook'];

const kinds = ['publish', 'play'] as const;

/** Endpoints that decide, with their last answers. */
export function HooksSection() {
  const loaded = useLoad(projectKey.value, signal => call('GET /hooks', { signal }));
  return (
    <LoadedContent loaded={loaded} height={180}>
      {hooks => (
        <>
          {kinds.map(kind => (
            <HookCard key={kind} kind={kind} hook={hooks[kind]} onChange={loaded.reload} />
          ))}
        </>
      )}
    </LoadedContent>
  );
}

function HookCard({ kind, hook, onChange }: { kind: HookKind; hook: Hook | null; onChange: () => void }) {
  const [openDialog, setOpenDialog] = useState<'edit' | 'delete'>();
  return (
    <>
      <Section
        title={t('hooks.title', { hook: kind })}
        lead={t('hooks.lead', { hook: kind })}
        actions={
          hook === null && (
            <Button
              icon="plus"
              label={t('hooks.setUpLabel', { hook: kind })}
              onClick={() => setOpenDialog('edit')}
            >
              {t('hooks.setUp')}
            </Button>
          )
        }
      >
        {hook !== null && <HookDetails hook={hook} onOpenDialog={setOpenDialog} onChange={onChange} />}
      </Section>
      {openDialog === 'edit' && (
        <HookForm
          kind={kind}
          hook={hook}
          onClose={() => setOpenDialog(undefined)}
          onSaved={() => {
            setOpenDialog(undefined);
            showToast(t('hooks.saved', { hook: kind }));
            onChange();
          }}
        />
      )}
      {openDialog === 'delete' && hook !== null && (
        <ConfirmDialog
          title={t('hooks.deleteTitle', { hook: kind })}
          action={t('hooks.delete')}
          name={hook.url}
          onClose={() => setOpenDialog(undefined)}
          work={async () => {
            await call('DELETE /hooks/{hook}', { params: { hook: kind } });
            showToast(t('hooks.deleted', { hook: kind }));
            onChange();
          }}
        >
          <p>{t('hooks.deleteText', { hook: kind })}</p>
        </ConfirmDialog>
      )}
    </>
  );
}

function HookDetails({
  hook: { hook: kind, url, timeoutSeconds, onFailure, signatureSecret, results },
  onOpenDialog,
  onChange,
}: {
  hook: Hook;
  onOpenDialog: (what: 'edit' | 'delete') => void;
  onChange: () => void;
}) {
  const [tested, setTested] = useState<HookResult>();
  const testing = useSubmit(async () => {
    setTested(undefined);
    setTested(await call('POST /hooks/{hook}/test', { params: { hook: kind } }));
    onChange();
  });
  return (
    <>
      <CopyField label={t('endpoint.label')} value={url} />
      <CopyField secret label={t('webhooks.secret')} value={signatureSecret} hint={t('hooks.secretHint')} />
      <DetailList
        rows={[
          [t('hooks.timeout'), t('hooks.seconds', { count: timeoutSeconds })],
          [
            t('hooks.onFailure'),
            onFailure === 'refuse' ? t('hooks.refuse', { hook: kind }) : t('hooks.allow', { hook: kind }),
          ],
        ]}
      />
      <div role="status">
        {tested !== undefined && <TestNotice result={tested} />}
        <ProblemNotice problem={testing.problem} />
      </div>
      <div class="actions">
        <Button
          icon="send"
          label={t('hooks.sendTestLabel', { hook: kind })}
          busy={testing.busy}
          onClick={() => testing.submit()}
        >
          {t('hooks.sendTest')}
        </Button>
        <Button icon="edit" label={t('hooks.editLabel', { hook: kind })} onClick={() => onOpenDialog('edit')}>
          {t('hooks.edit')}
        </Button>
        <Button
          icon="trash"
          label={t('hooks.deleteLabel', { hook: kind })}
          onClick={() => onOpenDialog('delete')}
        >
          {t('hooks.deleteButton')}
        </Button>
      </div>
      <h3>{t('hooks.latest')}</h3>
      {results.length === 0 ? (
        <p class="quiet">{t('hooks.noRequests')}</p>
      ) : (
        <Table
          caption={t('hooks.latestOf', { hook: kind })}
          rows={results}
          keyOf={result => String(results.indexOf(result))}
          columns={resultColumns()}
        />
      )}
    </>
  );
}

function TestNotice({ result }: { result: HookResult }) {
  const { error, durationMs } = result;
  return (
    <Notice
      tone={error === undefined ? 'good' : 'bad'}
      title={error === undefined ? t('hooks.responded', { result: result.result }) : t('hooks.noResponse')}
    >
      <p>
        {t('webhooks.answerTook', {
          answer: formatAnswer(result).replace(/\.$/, ''),
          duration: formatDuration(durationMs),
        })}
      </p>
    </Notice>
  );
}

const maxShownChars = 200;

function resultColumns(): Column<HookResult>[] {
  return [
    {
      head: t('hooks.result'),
      cell: ({ result }) => (
        <Badge tone={result === 'allowed' ? 'good' : 'bad'}>{t('hooks.outcome', { result })}</Badge>
      ),
    },
    {
      head: t('hooks.response'),
      cell: result => (
        <span class="last-answer">
          <bdi>{formatAnswer(result)}</bdi>
          {errorDetail(result) !== undefined && <bdi lang="en">{errorDetail(result)}</bdi>}
          {result.response !== undefined && <bdi>{result.response.slice(0, maxShownChars)}</bdi>}
          <bdi class="quiet">{formatDuration(result.durationMs)}</bdi>
        </span>
      ),
    },
    {
      head: t('hooks.for'),
      cell: result => (result.test ? t('hooks.test') : <Subject result={result} />),
    },
    { head: t('hooks.address'), cell: ({ remoteAddress }) => remoteAddress },
    { head: t('hooks.time'), cell: ({ attemptedAt }) => <RelativeTime time={attemptedAt} /> },
  ];
}

function Subject({ result: { liveStreamId, videoId } }: { result: HookResult }) {
  if (videoId !== undefined) return <a href={`/dashboard/videos/${videoId}`}>{t('hooks.video')}</a>;
  return <a href={`/dashboard/live/${liveStreamId}`}>{t('hooks.liveStream')}</a>;
}
