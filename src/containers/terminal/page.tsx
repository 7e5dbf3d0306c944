import type { Child } from 'hono/jsx'
import type { Container } from '../../docker/index.ts'
import { PageHead } from '../../web/components.tsx'
import { Button } from '../../web/form.tsx'
import { assetPath } from '../../web/static.ts'
import { containerPath } from '../place.ts'

export const terminalPath = (container: { id: string }) => `${containerPath(container)}/terminal`

/** Keys that the keyboards of touch screens lack, by the names that terminal.js uses. */
const keys = [
  { name: 'escape', label: 'Esc' },
  { name: 'tab', label: 'Tab' },
  { name: 'control', label: 'Ctrl' },
  { name: 'left', label: '←', title: 'Left' },
  { name: 'up', label: '↑', title: 'Up' },
  { name: 'down', label: '↓', title: 'Down' },
  { name: 'right', label: '→', title: 'Right' },
]

export const TerminalPage = ({ container }: { container: Pick<Container, 'id' | 'name'> }) => (
  <>
    <PageHead
      title={`Terminal: ${container.name}`}
      doc="logs#terminals"
      crumbs={[
        { href: '/containers', name: 'Containers' },
        { href: containerPath(container), name: container.name },
      ]}
    />
    <TerminalView path={terminalPath(container)} starting="Starting a shell…" again="Open again">
      Programs here end when the page is closed. Files outside of volumes are lost with the next
      deployment.
    </TerminalView>
  </>
)

export const TerminalView = ({
  path,
  starting,
  again,
  once = false,
  children,
}: {
  path: string
  /** Shown until there is output. */
  starting: string
  again: string
  /** No button to open it again after its program has exited. */
  once?: boolean
  /** Explains what happens to its programs when the page is closed. */
  children: Child
}) => (
  <>
    <link rel="stylesheet" href={assetPath('vendor/xterm.css')} />
    <section
      class="terminal"
      aria-label="Terminal"
      data-terminal={path}
      data-terminal-starting={starting}
      data-terminal-once={once || undefined}
    >
      <div class="terminal-head">
        <p role="status" data-terminal-state>
          <noscript>The terminal needs JavaScript.</noscript>
        </p>
        <Button small variant="outline" type="button" data-terminal-again hidden>
          {again}
        </Button>
      </div>
      <div class="terminal-screen" />
      <div class="terminal-keys" role="group" aria-label="Keys">
        {keys.map(({ name, label, title }) => (
          <Button
            small
            variant="outline"
            type="button"
            class="btn terminal-key"
            data-key={name}
            aria-label={title}
            aria-pressed={name === 'control' ? 'false' : undefined}
          >
            {label}
          </Button>
        ))}
        <Button small variant="outline" type="button" data-key="copy">
          Copy
        </Button>
        <Button small variant="outline" type="button" data-key="paste" hidden>
          Paste
        </Button>
      </div>
      <p class="muted">
        Ctrl+Shift+C copies, Ctrl+Shift+V pastes, Shift+Esc leaves the terminal. {children}
      </p>
    </section>
    <script type="module" src={assetPath('terminal.js')} />
  </>
)
