import { CheckIcon } from './icons.tsx'

/** The end of a form that stays on its page: the button, and that it was saved. */
export const SaveRow = ({
  label = 'Save',
  saved,
}: {
  label?: string
  /** What to say once it is done. */
  saved: string | false
}) => (
  <div class="form-actions start">
    <button type="submit" class="btn">
      {label}
    </button>
    {saved && (
      <p class="saved" role="status" data-announce={saved}>
        <CheckIcon />
        {saved}
      </p>
    )}
  </div>
)
