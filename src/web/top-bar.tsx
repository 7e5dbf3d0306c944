import { docPath } from './components.tsx'
import type { User } from './factory.ts'
import { PostForm } from './form.tsx'
import { Icon, Mark } from './icons.tsx'
import type { IconName } from './icons.tsx'
import { ThemeChoice } from './theme.tsx'
import type { Theme } from './theme.tsx'

export const sections: { name: string; href: string; under: string; icon: IconName }[] = [
  { name: 'Dashboard', href: '/dashboard', under: '/dashboard', icon: 'layout-dashboard' },
  { name: 'Projects', href: '/projects', under: '/projects', icon: 'folder-git-2' },
  { name: 'Services', href: '/services', under: '/services', icon: 'database' },
  { name: 'Containers', href: '/containers', under: '/containers', icon: 'container' },
  { name: 'Map', href: '/map', under: '/map', icon: 'workflow' },
  { name: 'Settings', href: '/settings/profile', under: '/settings', icon: 'settings' },
]

/** The frame's head; on a phone its sections are at the bottom of the screen. */
export const TopBar = ({ user, path, theme }: { user: User; path: string; theme: Theme }) => (
  <header class="top-bar">
    <a class="brand" href="/dashboard" aria-label="Davit, to the dashboard">
      <Mark />
      <span>Davit</span>
    </a>
    <nav class="sections" aria-label="Main">
      {sections.map(({ name, href, under, icon }) => (
        <a href={href} aria-current={isUnder(path, under) ? 'page' : undefined}>
          <Icon name={icon} />
          <span>{name}</span>
        </a>
      ))}
    </nav>
    <a class="search-button" href="/search" data-palette aria-keyshortcuts="Control+K Meta+K">
      <Icon name="search" />
      <span>Search</span>
      <kbd aria-hidden="true">Ctrl K</kbd>
    </a>
    <button type="button" class="avatar-button" popovertarget="user-menu" aria-label="Your account">
      <span aria-hidden="true">{[...(user.name?.trim() || user.email)][0]!.toUpperCase()}</span>
    </button>
    <div id="user-menu" class="user-menu" popover="auto">
      <p>
        {user.name && <strong>{user.name}</strong>}
        <span>{user.email}</span>
      </p>
      <a class="narrow-only" href="/map">
        <Icon name="workflow" />
        Map
      </a>
      <a href="/settings/profile">
        <Icon name="user" />
        Profile
      </a>
      <a href={docPath()}>
        <Icon name="book-open" />
        Documentation
      </a>
      <div class="user-theme">
        <span>Theme</span>
        <ThemeChoice theme={theme} />
      </div>
      <PostForm action="/auth/logout">
        <button type="submit">
          <Icon name="log-out" />
          Log out
        </button>
      </PostForm>
    </div>
  </header>
)

/** The head of a page for visitors who are not logged in. */
export const PublicBar = ({ path }: { path: string }) => (
  <header class="public-bar">
    <a class="brand" href="/">
      <Mark />
      <span>Davit</span>
    </a>
    {isUnder(path, docPath()) && <a href="/login">Log in</a>}
  </header>
)

export const isUnder = (path: string, section: string) =>
  path === section ||
  path.startsWith(`${section}/`) ||
  (path.startsWith('/envs/') && section === '/projects') ||
  (/^\/backups(\/|$)/.test(path) && section === '/services')
