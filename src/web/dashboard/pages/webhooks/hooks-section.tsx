import { useState } from 'preact/hooks';
import type { Hook, HookResult } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { projectKey } from '../../state/session.ts';
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
import { formatAnswer, formatDuration } from './delivery-labels.ts';
import { HookForm } from './hook-form.tsx';
import { type HookKind, hookLabels } from './hook-labels.ts';

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
  const { title, lead } = hookLabels[kind];
  return (
    <>
      <Section
        title={title}
        lead={lead}
        actions={
          hook === null && (
            <Button icon="plus" label={`Set up ${title.toLowerCase()}`} onClick={() => setOpenDialog('edit')}>
              Set up
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
            showToast(`${title} saved.`);
            onChange();
          }}
        />
      )}
      {openDialog === 'delete' && hook !== null && (
        <ConfirmDialog
          title={`Delete the ${title.toLowerCase()}?`}
          action="Delete hook"
          name={hook.url}
          onClose={() => setOpenDialog(undefined)}
          work={async () => {
            await call('DELETE /hooks/{hook}', { params: { hook: kind } });
            showToast(`${title} deleted.`);
            onChange();
          }}
        >
          <p>{hookLabels[kind].without}</p>
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
  const { title, failureLabels } = hookLabels[kind];
  return (
    <>
      <CopyField label="Endpoint URL" value={url} />
      <CopyField
        secret
        label="Signing secret"
        value={signatureSecret}
        hint="Every request is signed with it, like those of webhooks."
      />
      <DetailList
        rows={[
          ['Timeout', timeoutSeconds === 1 ? '1 second' : `${timeoutSeconds} seconds`],
          ['Without a response', failureLabels[onFailure]],
        ]}
      />
      <div role="status">
        {tested !== undefined && <TestNotice result={tested} />}
        <ProblemNotice problem={testing.problem} />
      </div>
      <div class="actions">
        <Button
          icon="send"
          label={`Send test to the ${title.toLowerCase()}`}
          busy={testing.busy}
          onClick={() => testing.submit()}
        >
          Send test
        </Button>
        <Button icon="edit" label={`Edit the ${title.toLowerCase()}`} onClick={() => onOpenDialog('edit')}>
          Edit
        </Button>
        <Button
          icon="trash"
          label={`Delete the ${title.toLowerCase()}`}
          onClick={() => onOpenDialog('delete')}
        >
          Delete
        </Button>
      </div>
      <h3>Latest responses</h3>
      {results.length === 0 ? (
        <p class="quiet">No requests yet.</p>
      ) : (
        <Table
          caption={`Latest responses of the ${title.toLowerCase()}`}
          rows={results}
          keyOf={result => String(results.indexOf(result))}
          columns={resultColumns}
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
      title={
        error === undefined
          ? `The hook responded: ${resultLabel(result).toLowerCase()}`
          : 'The hook didn’t respond'
      }
    >
      <p>
        {formatAnswer(result).replace(/\.?$/, '.')} It took {formatDuration(durationMs)}.
      </p>
    </Notice>
  );
}

const maxShownChars = 200;

const resultColumns: Column<HookResult>[] = [
  {
    head: 'Result',
    cell: result => <Badge tone={result.result === 'allowed' ? 'good' : 'bad'}>{resultLabel(result)}</Badge>,
  },
  {
    head: 'Response',
    cell: result => (
      <span class="last-answer">
        {formatAnswer(result)}
        {result.response !== undefined && <span>{result.response.slice(0, maxShownChars)}</span>}
        <span class="quiet">{formatDuration(result.durationMs)}</span>
      </span>
    ),
  },
  { head: 'For', cell: result => (result.test ? 'Test' : <Subject result={result} />) },
  { head: 'Address', cell: ({ remoteAddress }) => remoteAddress },
  { head: 'Time', cell: ({ attemptedAt }) => <RelativeTime time={attemptedAt} /> },
];

function Subject({ result: { liveStreamId, videoId } }: { result: HookResult }) {
  if (videoId !== undefined) return <a href={`/dashboard/videos/${videoId}`}>Video</a>;
  return <a href={`/dashboard/live/${liveStreamId}`}>Live stream</a>;
}

function resultLabel({ result }: HookResult): string {
  return result === 'allowed' ? 'Allowed' : 'Refused';
}
