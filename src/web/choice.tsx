import type { Child } from 'hono/jsx'

type Props = {
  name: string
  value: string
  label: string
  chosen?: boolean
  disabled?: boolean
  hint: Child
  /** Shown below the hint. */
  children?: Child
}

/** One of several, of which one is chosen. */
export const Choice = ({
  name,
  value,
  label,
  chosen = false,
  disabled = false,
  hint,
  children,
}: Props) => {
  const id = `${name}-${value}`
  return (
    <div class="field check">
      <input
        {...{ id, name, value, disabled }}
        type="radio"
        checked={chosen && !disabled}
        aria-describedby={`${id}-hint`}
      />
      <label for={id}>{label}</label>
      <p id={`${id}-hint`} class="hint">
        {hint}
      </p>
      {children}
    </div>
  )
}
