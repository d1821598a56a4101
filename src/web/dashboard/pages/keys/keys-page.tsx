import { useState } from 'preact/hooks';
import { serverUrl } from '../../../shared/base-path.ts';
import type { ApiKeyPair } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { projectKey } from '../../state/session.ts';
import { rich, t } from '../../texts/developers.ts';
import { bold } from '../../ui/bold.tsx';
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
import { pageOf } from '../../ui/page-of.ts';
import { Pagination } from '../../ui/pagination.tsx';
import { EmptyState, LoadedContent } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { showToast } from '../../ui/toast.tsx';
import { DeleteKeyDialog, DeletePairDialog, RegenerateDialog } from './change-dialogs.tsx';
import { type KeysDialog, type NewKeys, nameOf, newKeysOf, reachableKeys } from './key-pair.ts';
import { pairColumns } from './pair-columns.tsx';
import { CreatePairDialog, EditPairDialog } from './pair-dialogs.tsx';
import { SigningKeysCard } from './signing-keys-card.tsx';

const pageSize = 25;
/** The server updates the time of last use once a minute. */
const freshForMs = 60_000;

export function KeysPage() {
  const { query } = useQuery();
  const page = pageOf(query);
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
      title={t('keys.title')}
      lead={t('keys.lead')}
      actions={
        <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
          {t('keys.new')}
        </Button>
      }
    >
      <Section>
        <LoadedContent loaded={loaded} height={180}>
          {({ data, pagination }) =>
            pagination.itemsTotal === 0 ? (
              <EmptyState icon="key" title={t('keys.emptyTitle')}>
                {t('keys.emptyText')}
              </EmptyState>
            ) : (
              <>
                <Table
                  caption={t('keys.title')}
                  columns={pairColumns(kinds, setOpen)}
                  rows={data}
                  keyOf={({ keyPairId }) => keyPairId}
                />
                <Pagination pagination={pagination} what="apiKeys" />
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
            showToast(t('keys.notShownAgain'));
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
    <Section title={t('keys.kindsTitle')}>
      <p>{rich('keys.kindsText', {}, bold)}</p>
      <p class="quiet">
        {rich(
          'keys.inBrowsers',
          {},
          {
            tokens: text => <a href="/dashboard/upload-tokens">{text}</a>,
            docs: text => <LearnMore docs="start#get-a-key">{text}</LearnMore>,
          },
        )}
      </p>
    </Section>
  );
}

function NewKeysDialog({ made, onClose }: { made: NewKeys; onClose: () => void }) {
  const [, key] = made.keys[0]!;
  const command = `curl -u ${key}: ${serverUrl}/live-streams`;
  const count = made.keys.length;
  return (
    <ResultDialog title={t('keys.madeTitle', { count, name: nameOf(made.pair) })} onClose={onClose}>
      <Notice tone="warning" title={t('keys.copyNow', { count })}>
        {t('keys.shownOnce', { count })}
      </Notice>
      {made.keys.map(([kind, text]) => (
        <CopyField key={kind} label={t('keys.kind', { kind })} value={text} />
      ))}
      <CodeSample label={t('keys.tryIt')} text={command} />
    </ResultDialog>
  );
}
