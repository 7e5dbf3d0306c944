import type { Child } from 'hono/jsx'
import { PageHead } from '../web/components.tsx'
import { DraftContext } from '../web/draft.ts'
import type { Draft } from '../web/draft.ts'
import type { User } from '../web/factory.ts'
import { TextArea, TextField } from '../web/fields-view.tsx'
import { Logo } from '../web/logo.tsx'
import { Button, ButtonLink, Form } from '../web/form.tsx'
import type { Server } from '../runtime/placement.ts'
import type { Template } from './compose/template.ts'
import { FileFields } from './file-fields.tsx'
import { TemplateLinks } from './services-page.tsx'

type Props = { draft: Draft; servers: Server[]; user: User }

/** The form that creates an instance from a template. */
export const ConfigurePage = ({
  name,
  file,
  suggestion,
  draft,
  ...shown
}: Props & { name: string; file: Template; suggestion: string }) => (
  <NewService
    title={`New ${file.about.name}`}
    mark={<Logo of={name} name={file.about.name} />}
    about={
      <>
        <p class="subtitle">{file.about.description}</p>
        <TemplateLinks about={file.about} />
      </>
    }
    action={`/services/${name}`}
    draft={draft}
  >
    <TextField
      name="name"
      label="Name"
      value={suggestion}
      hint="A name for this service. You can change it later."
      required
      autocomplete="off"
    />
    <FileFields file={file} {...shown} />
  </NewService>
)

type FileProps = Props & {
  /** Null before a file was given, and for an invalid one. */
  file: Template | null
}

/** The form that creates an instance from a user's own file. */
export const ComposePage = (props: FileProps) => (
  <NewService
    title="Bring your own"
    about={
      <p class="subtitle">
        A Compose file, with or without <code>x-davit</code>. Coolify templates and Dokploy’s import
        text work too.
      </p>
    }
    action="/services/compose"
    upload
    draft={props.draft}
  >
    <TextField name="name" label="Name" required autocomplete="off" />
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
      secret
      label=".env beside it"
      rows={4}
      placeholder="KEY=value"
      hint="Values for the variables in the file. They are stored encrypted."
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
        Read file
      </Button>
    </div>
    <div id="compose-details" class="form">
      <ComposeDetails {...props} />
    </div>
  </NewService>
)

export const ComposeDetails = ({ file, draft, ...shown }: FileProps) => (
  <DraftContext.Provider value={draft}>
    {file && <FileFields file={file} {...shown} />}
  </DraftContext.Provider>
)

const NewService = ({
  title,
  mark,
  about,
  children,
  ...form
}: {
  title: string
  mark?: Child
  about: Child
  action: string
  draft: Draft
  upload?: boolean
  children: Child
}) => (
  <div class="narrow">
    <PageHead
      title={title}
      mark={mark}
      crumbs={[{ href: '/services', name: 'Services' }]}
      doc="services#your-own-compose-file"
    />
    {about}
    <Form
      class="form service-form"
      {...form}
      buttons={
        <>
          <ButtonLink variant="ghost" href="/services">
            Cancel
          </ButtonLink>
          <Button>Create and start</Button>
        </>
      }
    >
      {children}
    </Form>
  </div>
)
