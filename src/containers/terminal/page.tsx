import type { Container } from '../../docker/index.ts'
import { PageHead } from '../../web/components.tsx'
import { Button } from '../../web/form.tsx'
import { assetPath } from '../../web/static.ts'
import { containerPath } from '../row.ts'

export const terminalPath = (container: { id: string }) => `${containerPath(container)}/terminal`

/** What a touch screen's keyboard lacks, by what terminal.js sends for it. */
const keys = [
  { name: 'escape', label: 'Esc' },
  { name: 'tab', label: 'Tab' },
  { name: 'control', label: 'Ctrl' },
  { name: 'left', label: '←', title: 'Left' },
  { name: 'up', label: '↑', title: 'Up' },
  { name: 'down', label: '↓', title: 'Down' },
  { name: 'right', label: '→', title: 'Right' },
]

/** A shell in a container, drawn by terminal.js. */
export const TerminalPage = ({ container }: { container: Pick<Container, 'id' | 'name'> }) => (
  <>
    <link rel="stylesheet" href={assetPath('vendor/xterm.css')} />
    <PageHead
      title={`Terminal: ${container.name}`}
      crumbs={[
        { href: '/containers', name: 'Containers' },
        { href: containerPath(container), name: container.name },
      ]}
    />
    <section class="terminal" aria-label="Terminal" data-terminal={terminalPath(container)}>
      <div class="terminal-head">
        <p role="status" data-terminal-state>
          <noscript>The terminal needs JavaScript.</noscript>
        </p>
        <Button small variant="outline" type="button" data-terminal-again hidden>
          Open again
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
        Ctrl+Shift+C copies, Ctrl+Shift+V pastes, Shift+Esc leaves the terminal. What runs here ends
        when the page is closed. Files outside of volumes are gone with the next deployment.
      </p>
    </section>
    <script type="module" src={assetPath('terminal.js')} />
  </>
)
