import type { JSX } from 'hono/jsx/jsx-runtime'

/** A small button for a log, which its viewer finds as `data-log-` and the name. */
export const LogTool = ({
  name,
  children,
  ...attributes
}: JSX.IntrinsicElements['button'] & { name: string }) => (
  <button
    type="button"
    class="btn"
    data-variant="outline"
    data-size="sm"
    {...{ [`data-log-${name}`]: true }}
    {...attributes}
  >
    {children}
  </button>
)
