import type { Child } from 'hono/jsx'
import { docPath } from './components.tsx'
import type { User } from './factory.ts'
import { Icon } from './icons.tsx'
import { assetPath, assetData } from './static.ts'
import { ThemeChoice } from './theme.tsx'
import type { Theme } from './theme.tsx'
import { isUnder, PublicBar, TopBar } from './top-bar.tsx'
import { Live } from './live.tsx'
import type { Look } from './status-badge.tsx'

type Props = {
  /** The title of the browser's tab, and its icon. */
  title: string
  icon: string
  user: User | null
  path: string
  theme: Theme
  /** The message about the change that led to this page. */
  said: string | null
  children: Child
}

/** The whole document. Without a user it is a card in the middle; with one, pages below the top bar. */
export const Layout = ({ title, icon, user, path, theme, said, children }: Props) => (
  <html lang="en" data-theme={theme === 'system' ? undefined : theme} class={classOf(theme)}>
    <Head title={title} icon={icon} />
    <body class={user ? 'app' : 'public'} data-user={user?.id}>
      <a class="skip-link" href="#main">
        Skip to the content
      </a>
      {user ? <TopBar user={user} path={path} theme={theme} /> : <PublicBar path={path} />}
      <Toasts said={said} />
      <main
        id="main"
        class={user || isUnder(path, docPath()) ? 'page' : path === '/' ? 'landing' : 'card frame'}
        tabindex={-1}
      >
        {children}
      </main>
      {!user && (
        <footer class="public-foot">
          <a href={docPath()}>Documentation</a>
          <ThemeChoice theme={theme} />
        </footer>
      )}
      <p id="away" class="away" role="status" hidden>
        Davit can’t be reached. This page shows what was last known, and is updated when Davit is
        back.
      </p>
      <p id="not-live" class="away" role="status" hidden>
        This page doesn’t update by itself: too many tabs of Davit are open. Close some, then{' '}
        <a href="">reload this page</a>.
      </p>
      <div id="modal" />
      <ConfirmDialog />
      <p id="announcer" class="visually-hidden" role="status" />
    </body>
  </html>
)

/** An explicit choice works without script; otherwise theme.js adds the class when the system is dark. */
const classOf = (theme: Theme) => (theme === 'dark' ? 'dark' : undefined)

const Head = ({ title, icon }: Pick<Props, 'title' | 'icon'>) => (
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
    <meta name="color-scheme" content="light dark" />
    <meta name="htmx-config" content={htmxConfig} />
    <title>{title}</title>
    <link rel="icon" href={icon} />
    <link rel="stylesheet" href={assetPath('app.css')} />
    <script src={assetPath('theme.js')} />
    <script src={assetPath('app.js')} defer />
  </head>
)

/**
 * An update of the page keeps sections unfolded and sizes set by scripts, without a delay in which htmx would
 * set styles as attributes. A server that was unreachable is found soon.
 */
const htmxConfig = JSON.stringify({
  extensions: 'sse',
  history: false,
  includeIndicatorCSS: false,
  morphIgnore: ['data-htmx-powered', 'open', 'style'],
  defaultSettleDelay: 0,
  sse: { reconnectMaxDelay: 5000 },
})

/** The confirmation dialog of `hx-confirm`; app.js fills in the question and the button. */
const ConfirmDialog = () => (
  <dialog id="confirm" class="dialog" aria-labelledby="confirm-question">
    <form method="dialog">
      <header>
        <h2 id="confirm-question">Are you sure?</h2>
      </header>
      <footer>
        <button class="btn" data-variant="outline" value="cancel">
          Cancel
        </button>
        <button class="btn" data-variant="destructive" value="confirm">
          Continue
        </button>
      </footer>
    </form>
  </dialog>
)

/** The title of the browser's tab, and an icon with a dot in the colour of the state. */
export function tabOf({ title, state }: { title: string; state?: Look | undefined }) {
  const named = title === 'Davit' ? title : `${plainOrder(title)} · Davit`
  return {
    title: state ? `${state.word} · ${named}` : named,
    icon: state ? iconOf(state.tone) : assetData('icon.svg'),
    dot: state && colours[state.tone],
  }
}

/** live.js updates the tab from it when the state has changed: the icon only in the colour of its dot. */
export const TabState = ({ title, dot }: Pick<ReturnType<typeof tabOf>, 'title' | 'dot'>) => (
  <Live id="tab" hidden data-title={title} data-dot={dot} />
)

/** A title can't isolate a name, so characters that change the text direction are removed. */
const plainOrder = (title: string) => title.replace(/[\u202A-\u202E\u2066-\u2069]/g, '')

/** Visible on a light and on a dark tab. */
const colours: Record<Look['tone'], string> = {
  good: '2f9e44',
  active: '1c7ed6',
  bad: 'e03131',
  quiet: '868e96',
}

const iconOf = (tone: Look['tone']) => {
  const dot = `<circle cx="18" cy="6" r="5.5" fill="#${colours[tone]}" stroke="none" />`
  return assetData('icon.svg').replace(/(?=%3C%2Fsvg%3E)/, encodeURIComponent(dot))
}

/** The place of messages about changes; without script it is a line on top of the page. */
const Toasts = ({ said }: { said: string | null }) => (
  <div id="toasts" role="status">
    {said !== null && (
      <p class="toast">
        <Icon name="check" />
        <span>{said}</span>
      </p>
    )}
  </div>
)
