import type { Context } from 'hono'
import type { Child } from 'hono/jsx'
import type { JSX } from 'hono/jsx/jsx-runtime'
import { MoreLink, PageHead } from './components.tsx'
import type { Draft } from './draft.ts'
import type { User } from './factory.ts'
import { FormError } from './fields-view.tsx'
import { PostForm, SaveRow } from './form.tsx'
import type { View } from './respond.tsx'
import { userOf } from './user-of.ts'

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

/** The view of a page of settings that is one list; htmx gets the list alone. */
export const settingsView = (
  c: Context,
  { path, list, ...view }: Omit<View, 'page'> & { path: string; list: () => JSX.Element },
): View => ({
  page: () => (
    <SettingsFrame user={userOf(c)} path={path}>
      {list()}
    </SettingsFrame>
  ),
  partial: list,
  ...view,
})

type ListProps = {
  id: string
  'aria-label': string
  /** What it lists, and what can be added to it. */
  about: Child
  action?: Child
  rows: Child[]
  /** What to say where there are no rows. */
  empty?: Child
  /** Stands before the rows. */
  children?: Child
  /** The rest of a list that comes in pages. */
  more?: { href: string; nextCursor: string | null }
  [htmx: `hx-${string}`]: string
}

export const SettingsList = ({
  about,
  action,
  rows,
  empty,
  children,
  more,
  ...attributes
}: ListProps) => (
  <section {...attributes}>
    <div class="section-head">
      <p class="muted">{about}</p>
      {action}
    </div>
    {children}
    {rows.length > 0 ? <ul class="rows">{rows}</ul> : empty}
    {more && <MoreLink {...more} />}
  </section>
)

type About = { id: string; title: string; about: Child }

/** A part of a settings page: what it is about beside what there is. */
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

/** The same as a form, which replaces itself with complaints or a note that it is saved. */
export const SettingsForm = ({
  action,
  draft,
  saved,
  label = 'Save',
  children,
  ...about
}: About & {
  action: string
  draft: Draft
  /** What to say once it is done. */
  saved: string | false
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
    live
    hx-swap="outerHTML"
    hx-disable="find button"
  >
    <SectionHead {...about} />
    <div class="form">
      <FormError />
      {children}
      <SaveRow label={label} saved={saved} />
    </div>
  </PostForm>
)

const SectionHead = ({ id, title, about }: About) => (
  <div>
    <h2 id={`${id}-heading`}>{title}</h2>
    <p class="muted">{about}</p>
  </div>
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
