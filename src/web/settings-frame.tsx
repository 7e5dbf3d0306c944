import type { Context } from 'hono'
import type { Child } from 'hono/jsx'
import type { JSX } from 'hono/jsx/jsx-runtime'
import { MoreLink, PageHead } from './components.tsx'
import type { Draft } from './draft.ts'
import type { User } from './factory.ts'
import { FormError } from './fields-view.tsx'
import { PostForm, SaveRow } from './form.tsx'
import { Live } from './live.tsx'
import type { View } from './respond.tsx'
import { userOf } from './user-of.ts'

/** The frame of all settings pages: the heading and the tabs. */
export const SettingsFrame = ({
  user,
  path,
  title,
  children,
}: {
  user: User
  path: string
  /** The title of a page below that tab. */
  title?: string | undefined
  children: Child
}) => (
  <>
    <PageHead
      title={title ?? 'Settings'}
      crumbs={title === undefined ? [] : [{ href: path, name: tabOf(path).title }]}
      doc={tabOf(path).doc}
    />
    <nav class="tabs-line" aria-label="Settings">
      {settingsPages(user).map((tab) => (
        <a href={tab.path} aria-current={tab.path === path ? 'page' : undefined}>
          {tab.title}
        </a>
      ))}
    </nav>
    {children}
  </>
)

/** A settings page with a single list; htmx gets only the list. */
export const settingsView = (
  c: Context,
  { path, list, ...view }: Omit<View, 'page'> & { path: string; list: () => JSX.Element },
): View => ({
  page: () => (
    <SettingsFrame
      user={userOf(c)}
      path={path}
      title={c.req.method === 'GET' && c.req.path !== path ? view.title : undefined}
    >
      {list()}
    </SettingsFrame>
  ),
  partial: list,
  ...view,
})

type ListProps = {
  id: string
  'aria-label': string
  /** The description and the add button. */
  about: Child
  action?: Child
  rows: Child[]
  /** The text of an empty list. */
  empty?: Child
  /** Content before the rows. */
  children?: Child
  more?: { href: string; nextCursor: string | null }
  /** True when the list is kept up to date, on a page that is live. */
  isLive?: boolean
}

export const SettingsList = ({
  about,
  action,
  rows,
  empty,
  children,
  more,
  isLive = false,
  ...attributes
}: ListProps) => {
  const list = (
    <>
      <div class="section-head">
        <p class="muted">{about}</p>
        {action}
      </div>
      {children}
      {rows.length > 0 ? <ul class="rows">{rows}</ul> : empty}
      {more && <MoreLink {...more} />}
    </>
  )
  if (!isLive) return <section {...attributes}>{list}</section>
  return (
    <Live as="section" {...attributes}>
      {list}
    </Live>
  )
}

type About = { id: string; title: string; about: Child }

/** A section of a settings page: its description beside its content. */
export const SettingsSection = ({
  danger = false,
  children,
  ...about
}: About & { danger?: boolean; children: Child }) => (
  <section
    class={danger ? 'settings-section danger' : 'settings-section'}
    aria-labelledby={`${about.id}-heading`}
  >
    <SectionHead {...about} />
    {children}
  </section>
)

/** A section that is a form, and replaces itself with its errors when refused. */
export const SettingsForm = ({
  action,
  draft,
  label = 'Save changes',
  children,
  ...about
}: About & {
  action: string
  draft: Draft
  label?: string
  children: Child
}) => (
  <PostForm
    id={`${about.id}-form`}
    class="settings-section"
    aria-labelledby={`${about.id}-heading`}
    action={action}
    method="PUT"
    draft={draft}
    replaces="this"
  >
    <SectionHead {...about} />
    <div class="form">
      <FormError />
      {children}
      <SaveRow label={label} />
    </div>
  </PostForm>
)

const SectionHead = ({ id, title, about }: About) => (
  <div>
    <h2 id={`${id}-heading`}>{title}</h2>
    <p class="muted">{about}</p>
  </div>
)

const tabOf = (path: string) => [...tabs, ...adminTabs].find((tab) => tab.path === path)!

export const settingsPages = ({ role }: Pick<User, 'role'>) =>
  role === 'admin' ? [...tabs, ...adminTabs] : tabs

const tabs = [
  { title: 'Profile', path: '/settings/profile', doc: 'security#logins-and-sessions' },
  { title: 'Sessions', path: '/settings/sessions', doc: 'security#logins-and-sessions' },
  { title: 'Tokens', path: '/settings/tokens', doc: 'api#requests' },
  { title: 'Git', path: '/settings/git', doc: 'git#git-sources' },
  { title: 'Registries', path: '/settings/registries', doc: 'services#private-images' },
  { title: 'Targets', path: '/settings/targets', doc: 'backups#targets' },
  { title: 'Channels', path: '/settings/channels', doc: 'notifications' },
  { title: 'Events', path: '/settings/events', doc: 'notifications#events' },
]

const adminTabs = [
  { title: 'Users', path: '/settings/users', doc: 'security#who-can-do-what' },
  { title: 'Invitations', path: '/settings/invites', doc: 'settings#users-and-logins' },
  { title: 'Activity', path: '/settings/activity', doc: 'deployments' },
  { title: 'Grants', path: '/settings/grants', doc: 'services#your-own-compose-file' },
  { title: 'Edge', path: '/settings/edge', doc: 'edge#who-serves' },
  { title: 'Servers', path: '/settings/servers', doc: 'servers' },
  { title: 'Backups', path: '/settings/backups', doc: 'backups#davit-itself' },
  { title: 'Clean-up', path: '/settings/prune', doc: 'maintenance#clean-up-the-disk' },
  { title: 'Audit', path: '/settings/audit', doc: 'security' },
]
