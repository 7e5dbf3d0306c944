import type { Child } from 'hono/jsx'
import { PageHead } from '../web/components.tsx'
import type { User } from '../web/factory.ts'

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
  { title: 'Sessions', path: '/settings/sessions', adminOnly: false },
  { title: 'Invitations', path: '/settings/invites', adminOnly: true },
]
