import type { Player } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { themeName } from '../../format/theme-name.ts';
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
      title="Delete this theme?"
      action="Delete theme"
      name={name}
      work={async () => {
        await call('DELETE /players/{playerId}', { params: { playerId: player.playerId } });
        showToast(`“${name}” was deleted.`);
        onDeleted();
      }}
      onClose={onClose}
    >
      <p>
        The theme and its logo are deleted permanently. Videos and live streams that use it get the default
        player.
      </p>
    </ConfirmDialog>
  );
}
