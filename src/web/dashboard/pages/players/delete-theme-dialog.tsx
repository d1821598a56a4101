import type { Player } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { themeName } from '../../format/theme-name.ts';
import { t } from '../../texts/players.ts';
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx';
import { showToast } from '../../ui/toast.tsx';

export function DeleteThemeDialog({
  player,
  onDeleted,
  onClose,
}: {
  player: Player;
  onDeleted: () => void;
  onClose: () => void;
}) {
  const name = themeName(player);
  return (
    <ConfirmDialog
      title={t('theme.deleteTitle')}
      action={t('theme.delete')}
      name={name}
      work={async () => {
        await call('DELETE /players/{playerId}', { params: { playerId: player.playerId } });
        showToast(t('theme.deleted', { name }));
        onDeleted();
      }}
      onClose={onClose}
    >
      <p>{t('theme.deleteText')}</p>
    </ConfirmDialog>
  );
}
