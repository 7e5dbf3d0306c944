import type { Child } from 'hono/jsx'
import type { User } from './factory.ts'
import { PostForm } from './form.tsx'
import { Mark } from './icons.tsx'
import { assetPath } from './static.ts'

type Frame = { user: User | null; path: string; children: Child }

/** The whole document. Without a user it is a card in the middle; with one, pages below the top bar. */
export const Layout = ({ title, user, path, children }: Frame & { title: string }) => (
  <html lang="en">
    <Head title={title} />
    <body class={user ? 'app' : 'public'}>
      <a class="skip-link" href="#main">
        Skip to the content
      </a>
      {user ? <TopBar user={user} path={path} /> : <PublicBar />}
      <main id="main" class={user ? 'page' : path === '/' ? 'landing' : 'card frame'} tabindex={-1}>
        {children}
      </main>
      <div id="modal" />
      <ConfirmDialog />
      <p id="announcer" class="visually-hidden" role="status" />
    </body>
  </html>
)

const Head = ({ title }: { title: string }) => (
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <meta name="htmx-config" content={'extensions:"sse" history:false includeIndicatorCSS:false'} />
    <title>{title === 'Davit' ? title : `${plainOrder(title)} · Davit`}</title>
    <link rel="icon" href={assetPath('icon.svg')} type="image/svg+xml" />
    {stylesheets.map((name) => (
      <link rel="stylesheet" href={assetPath(name)} />
    ))}
    <script src={assetPath('theme.js')} />
    {/* one file with its sse extension: htmx starts in a timer, and knows no extension that comes later */}
    <script src={assetPath('vendor/htmx.min.js')} defer />
    <script src={assetPath('app.js')} type="module" />
  </head>
)

/** Nothing isolates a name in a title, so it keeps no character that turns round what follows. */
const plainOrder = (title: string) => title.replace(/[\u202A-\u202E\u2066-\u2069]/g, '')

const stylesheets = [
  'vendor/basecoat.min.css',
  'tokens.css',
  'frame.css',
  'parts.css',
  'forms.css',
  'deployment.css',
  'log.css',
  'container-log.css',
  'terminal.css',
  'stats.css',
  'containers.css',
  'services.css',
  'clean-up.css',
]

const sections = [
  { name: 'Dashboard', href: '/dashboard', under: '/dashboard' },
  { name: 'Projects', href: '/projects', under: '/projects' },
  { name: 'Services', href: '/services', under: '/services' },
  { name: 'Containers', href: '/containers', under: '/containers' },
  { name: 'Settings', href: '/settings/profile', under: '/settings' },
]

const TopBar = ({ user, path }: { user: User; path: string }) => (
  <header class="top-bar">
    <a class="brand" href="/dashboard" aria-label="Davit, to the dashboard">
      <Mark />
      <span>Davit</span>
    </a>
    <nav aria-label="Main">
      {sections.map(({ name, href, under }) => (
        <a href={href} aria-current={isUnder(path, under) ? 'page' : undefined}>
          {name}
        </a>
      ))}
    </nav>
    <button type="button" class="avatar-button" popovertarget="user-menu" aria-label="Your account">
      <span aria-hidden="true">{initial(user)}</span>
    </button>
    <div id="user-menu" class="user-menu" popover="auto">
      <p>
        {user.name && <strong>{user.name}</strong>}
        <span>{user.email}</span>
      </p>
      <a href="/settings/profile">Profile</a>
      <PostForm action="/auth/logout">
        <button type="submit">Log out</button>
      </PostForm>
    </div>
  </header>
)

const PublicBar = () => (
  <header class="public-bar">
    <a class="brand" href="/">
      <Mark />
      <span>Davit</span>
    </a>
  </header>
)

/** Asks before what carries `hx-confirm` is sent; app.js fills in the question and its answer. */
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

const isUnder = (path: string, section: string) =>
  path === section ||
  path.startsWith(`${section}/`) ||
  (path.startsWith('/envs/') && section === '/projects')

const initial = ({ name, email }: User) => [...(name?.trim() || email)][0]!.toUpperCase()
