import { useState } from 'preact/hooks';
import { serverUrl } from '../../../shared/base-path.ts';
import type { ApiKeyPair } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { projectKey } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { CodeSample } from '../../ui/code-sample.tsx';
import { CopyField } from '../../ui/copy.tsx';
import { ResultDialog } from '../../ui/dialog/dialog.tsx';
import { useInterval } from '../../ui/hooks/use-interval.ts';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { useNewDialog } from '../../ui/hooks/use-new-dialog.ts';
import { useQuery } from '../../ui/hooks/use-query.ts';
import { Notice } from '../../ui/notice.tsx';
import { LearnMore, Page, Section } from '../../ui/page.tsx';
import { Pagination } from '../../ui/pagination.tsx';
import { EmptyState, LoadedContent } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { showToast } from '../../ui/toast.tsx';
import { DeleteKeyDialog, DeletePairDialog, RegenerateDialog } from './change-dialogs.tsx';
import { type KeysDialog, kindNames, type NewKeys, nameOf, newKeysOf, reachableKeys } from './key-pair.ts';
import { pairColumns } from './pair-columns.tsx';
import { CreatePairDialog, EditPairDialog } from './pair-dialogs.tsx';
import { SigningKeysCard } from './signing-keys-card.tsx';

const pageSize = 25;
/** The server updates the time of last use once a minute. */
const freshForMs = 60_000;

export function KeysPage() {
  const { query, change } = useQuery();
  const page = Number(query.page ?? 1);
  const [isCreating, setCreating] = useNewDialog();
  const [open, setOpen] = useState<KeysDialog>();
  const { kinds, headers } = reachableKeys();
  const loaded = useLoad(`${page} ${kinds.length}`, signal =>
    call('GET /account/api-keys', {
      query: { currentPage: page, pageSize, sortBy: 'createdAt', sortOrder: 'desc' },
      headers,
      signal,
    }),
  );
  useInterval(freshForMs, loaded.reload);
  const close = () => setOpen(undefined);
  const closeNew = () => setCreating(false);
  const done = (message: string) => {
    close();
    showToast(message);
    loaded.reload();
  };
  const show = (pair: ApiKeyPair) => {
    closeNew();
    setOpen({ kind: 'new-keys', made: newKeysOf(pair) });
    loaded.reload();
  };
  return (
    <Page
      title="API keys"
      lead="Use a key to call the API from your own apps. Keep keys secret: whoever has one can use it."
      actions={
        <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
          New key pair
        </Button>
      }
    >
      <Section>
        <LoadedContent loaded={loaded} height={180}>
          {({ data, pagination }) =>
            pagination.itemsTotal === 0 ? (
              <EmptyState icon="key" title="No API keys yet">
                Create a key pair for each of your apps, so that you can revoke each on its own.
              </EmptyState>
            ) : (
              <>
                <Table
                  caption="API key pairs"
                  columns={pairColumns(kinds, setOpen)}
                  rows={data}
                  keyOf={({ keyPairId }) => keyPairId}
                />
                <Pagination
                  pagination={pagination}
                  what="key pairs"
                  onPage={next => change({ page: next === 1 ? undefined : String(next) })}
                />
              </>
            )
          }
        </LoadedContent>
      </Section>
      <KindsExplained />
      <SigningKeysCard key={projectKey.value} />
      {isCreating && <CreatePairDialog headers={headers} onMade={show} onClose={closeNew} />}
      {open?.kind === 'new-keys' && (
        <NewKeysDialog
          made={open.made}
          onClose={() => {
            close();
            showToast('The keys won’t be shown again. You can regenerate a lost key.');
          }}
        />
      )}
      {open?.kind === 'edit' && (
        <EditPairDialog pair={open.pair} headers={headers} onDone={done} onClose={close} />
      )}
      {open?.kind === 'delete-pair' && (
        <DeletePairDialog pair={open.pair} headers={headers} onDone={done} onClose={close} />
      )}
      {open?.kind === 'regenerate' && (
        <RegenerateDialog pair={open.pair} kind={open.key} headers={headers} onMade={show} onClose={close} />
      )}
      {open?.kind === 'delete-key' && (
        <DeleteKeyDialog pair={open.pair} kind={open.key} headers={headers} onDone={done} onClose={close} />
      )}
    </Page>
  );
}

function KindsExplained() {
  return (
    <Section title="Sandbox and production keys">
      <p>
        A pair has a key for each environment: use the <strong>production</strong> key in your apps and the{' '}
        <strong>sandbox</strong> key for tests. Videos in the sandbox are watermarked, cut to 30 seconds and
        deleted after 24 hours. Neither key can see what the other one created.
      </p>
      <p class="quiet">
        In code that runs in browsers and apps, use <a href="/dashboard/upload-tokens">upload tokens</a>{' '}
        instead: anyone can read a key there. To get started, see the{' '}
        <LearnMore docs="start#get-a-key">documentation</LearnMore>.
      </p>
    </Section>
  );
}

function NewKeysDialog({ made, onClose }: { made: NewKeys; onClose: () => void }) {
  const [, key] = made.keys[0]!;
  const command = `curl -u ${key}: ${serverUrl}/live-streams`;
  const isOne = made.keys.length === 1;
  return (
    <ResultDialog title={isOne ? 'Your new key' : `Your new keys: ${nameOf(made.pair)}`} onClose={onClose}>
      <Notice tone="warning" title={isOne ? 'Copy it now.' : 'Copy them now.'}>
        {isOne ? 'It is' : 'They are'} shown only once. The server doesn’t store {isOne ? 'it' : 'them'}.
      </Notice>
      {made.keys.map(([kind, text]) => (
        <CopyField key={kind} label={`${kindNames[kind]} key`} value={text} />
      ))}
      <CodeSample label="Try it from a terminal" text={command} />
    </ResultDialog>
  );
}
