import { Button } from '../../ui/button.tsx';

export function SelectionBar({
  count,
  isAll,
  isDeleting,
  onAll,
  onTag,
  onDelete,
  onClear,
}: {
  count: number;
  isAll: boolean;
  isDeleting: boolean;
  onAll: () => void;
  onTag: () => void;
  onDelete: () => void;
  onClear: () => void;
}) {
  return (
    <section class="selection-bar" aria-label="Selected videos">
      <strong role="status">{count === 1 ? '1 video selected' : `${count} videos selected`}</strong>
      <div class="actions">
        {!isAll && (
          <Button small kind="quiet" onClick={onAll}>
            Select all
          </Button>
        )}
        <Button small kind="quiet" onClick={onClear}>
          Clear
        </Button>
        <Button small icon="tag" onClick={onTag}>
          Add tags
        </Button>
        <Button small icon="trash" busy={isDeleting} onClick={onDelete}>
          Delete
        </Button>
      </div>
    </section>
  );
}
