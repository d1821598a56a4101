import { call } from '../../api/client.ts';
import type { PageProps } from '../../shell/page-props.ts';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { Page } from '../../ui/page.tsx';
import { LoadError, Skeleton } from '../../ui/states.tsx';
import { ThemeEditor } from './theme-editor.tsx';

const back = { href: '/dashboard/players', label: 'Players' };

export function PlayerPage({ params }: PageProps) {
  const playerId = params.playerId ?? '';
  const theme = useLoad(playerId, signal =>
    call('GET /players/{playerId}', { params: { playerId }, signal }),
  );
  if (theme.value !== undefined)
    return <ThemeEditor player={theme.value} onSaved={theme.set} reload={theme.reload} />;
  return (
    <Page title="Player theme" back={back}>
      {theme.problem === undefined ? (
        <div class="theme-editor" role="status">
          <span class="for-readers">Loading</span>
          <Skeleton height={420} />
          <Skeleton height={640} />
        </div>
      ) : (
        <LoadError problem={theme.problem} retry={theme.reload} />
      )}
    </Page>
  );
}
