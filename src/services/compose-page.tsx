import { PageHead } from '../web/components.tsx'
import type { User } from '../web/factory.ts'
import { FormError, TextArea, TextField } from '../web/fields-view.tsx'
import { Button, ButtonLink, PostForm } from '../web/form.tsx'
import { DraftContext } from '../web/draft.ts'
import type { Draft } from '../web/draft.ts'
import { askedFor } from './compose/values.ts'
import type { Template } from './compose/template.ts'
import { PlaceFields, ticked, WhatIsMade } from './configure-page.tsx'
import { DangerFields } from './danger-fields.tsx'
import type { Outline } from './outline.ts'
import { VariableFields } from './variable-fields.tsx'

/** What was read of a file; null before one was given, or when it can't be read. */
export type Read = { template: Template; outline: Outline } | null

type Props = { opened: Read; draft: Draft; user: User }

/** The form that makes an instance of a file of the user's own. */
export const ComposePage = ({ opened, draft, user }: Props) => (
  <div class="narrow">
    <PageHead title="Bring your own" crumbs={[{ href: '/services', name: 'Services' }]} />
    <p class="subtitle">
      A Compose file, with or without <code>x-davit</code>. A template of Coolify, and the import
      text of Dokploy, are read too.
    </p>
    <PostForm action="/services/compose" class="form service-form" upload draft={draft}>
      <FormError />
      <TextField name="name" label="Name" required maxlength={60} autocomplete="off" />
      <TextArea
        name="compose"
        label="Compose file"
        rows={14}
        placeholder={'services:\n  web:\n    image: nginx:1.29\n    ports: ["80"]'}
        code
      />
      <div class="field">
        <label for="field-compose_file">
          or as an upload
          <span class="optional">optional</span>
        </label>
        <input
          id="field-compose_file"
          class="input"
          type="file"
          name="compose_file"
          accept=".yaml,.yml,.txt,text/*"
        />
      </div>
      <TextArea
        name="env"
        label=".env beside it"
        rows={4}
        placeholder="KEY=value"
        hint="Its values go where the file mentions them, and are kept sealed."
        code
      />
      <div class="form-actions start">
        <Button
          variant="outline"
          formaction="/services/compose/configure"
          formnovalidate
          hx-post="/services/compose/configure"
          hx-encoding="multipart/form-data"
          hx-target="#compose-details"
        >
          Read the file
        </Button>
      </div>
      <div id="compose-details" class="form">
        <ComposeDetails opened={opened} draft={draft} user={user} />
      </div>
      <div class="form-actions">
        <ButtonLink variant="ghost" href="/services">
          Cancel
        </ButtonLink>
        <Button>Create and start</Button>
      </div>
    </PostForm>
  </div>
)

/** What the file asks for, to be filled in. */
export const ComposeDetails = ({ opened, draft, user }: Props) => {
  if (!opened) return <></>
  const { template, outline } = opened
  const variables = askedFor(template.variables)
  return (
    <DraftContext.Provider value={draft}>
      {variables.length > 0 && <VariableFields variables={variables} draft={draft} />}
      <PlaceFields
        draft={draft}
        version={template.about.version}
        hasPorts={outline.ports.length > 0}
      />
      <DangerFields
        dangers={outline.dangers}
        allowed={ticked(draft)}
        isAdmin={user.role === 'admin'}
      />
      <WhatIsMade outline={outline} />
    </DraftContext.Provider>
  )
}
