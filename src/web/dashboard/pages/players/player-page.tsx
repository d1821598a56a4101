import { call } from '../../api/client.ts';
import type { PageProps } from '../../shell/page-props.ts';
import { t } from '../../texts/players.ts';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { Page } from '../../ui/page.tsx';
import { LoadError, Skeleton } from '../../ui/states.tsx';
import { ThemeEditor } from './theme-editor.tsx';

export function PlayerPage({ params }: PageProps) {
  const playerId = params.playerId ?? '';
  const theme = useLoad(playerId, signal =>
    call('GET /players/{playerId}', { params: { playerId }, signal }),
  );
  if (theme.value !== undefined)
    return <ThemeEditor player={theme.value} onSaved={theme.set} reload={theme.reload} />;
  return (
    <Page title={t('theme.title')} back={{ href: '/dashboard/players', label: t('players.title') }}>
      {theme.problem === undefined ? (
        <div class="theme-editor" role="status">
          <span class="for-readers">{t('theme.loading')}</span>
          <Skeleton height={420} />
          <Skeleton height={640} />
        </div>
      ) : (
        <LoadError problem={theme.problem} retry={theme.reload} />
      )}
    </Page>
  );
}
