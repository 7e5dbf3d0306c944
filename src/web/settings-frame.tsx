import type { Child } from 'hono/jsx'
import { PageHead } from './components.tsx'
import type { User } from './factory.ts'

/** What all pages of settings stand in: the heading and the tabs. */
export const SettingsFrame = ({
  user,
  path,
  children,
}: {
  user: User
  path: string
  children: Child
}) => (
  <>
    <PageHead title="Settings" />
    <nav class="tabs-line" aria-label="Settings">
      {tabs
        .filter(({ adminOnly }) => !adminOnly || user.role === 'admin')
        .map((tab) => (
          <a href={tab.path} aria-current={tab.path === path ? 'page' : undefined}>
            {tab.title}
          </a>
        ))}
    </nav>
    {children}
  </>
)

const tabs = [
  { title: 'Profile', path: '/settings/profile', adminOnly: false },
  { title: 'Sessions', path: '/settings/sessions', adminOnly: false },
  { title: 'Tokens', path: '/settings/tokens', adminOnly: false },
  { title: 'Git', path: '/settings/git', adminOnly: false },
  { title: 'Registries', path: '/settings/registries', adminOnly: false },
  { title: 'Users', path: '/settings/users', adminOnly: true },
  { title: 'Invitations', path: '/settings/invites', adminOnly: true },
  { title: 'Activity', path: '/settings/activity', adminOnly: true },
  { title: 'Grants', path: '/settings/grants', adminOnly: true },
  { title: 'Clean-up', path: '/settings/prune', adminOnly: true },
  { title: 'Audit', path: '/settings/audit', adminOnly: true },
]
