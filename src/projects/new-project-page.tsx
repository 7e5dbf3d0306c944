import type { Source } from '../git/store.ts'
import { PageHead } from '../web/components.tsx'
import { TextField } from '../web/fields-view.tsx'
import { Button, ButtonLink, Form } from '../web/form.tsx'
import type { Draft } from '../web/draft.ts'
import { SchemaFields } from '../web/schema-fields.tsx'
import { placeForm } from './forms.ts'
import { FromLinks, NoSource, RepositoryFields } from './repository-fields.tsx'
import type { From } from './repository-fields.tsx'

type Props = { from: From; draft: Draft; sources: Source[] }

export const NewProjectPage = (props: Props) => (
  <div class="narrow">
    <PageHead
      title="New project"
      crumbs={[{ href: '/projects', name: 'Projects' }]}
      doc="first-app"
    />
    <FromLinks path="/projects/new" from={props.from} />
    {props.from === 'source' && props.sources.length === 0 ? (
      <NoSource />
    ) : (
      <NewProjectForm {...props} />
    )}
  </div>
)

const NewProjectForm = ({ from, draft, sources }: Props) => (
  <Form
    action="/projects"
    draft={draft}
    buttons={
      <>
        <ButtonLink variant="ghost" href="/projects">
          Cancel
        </ButtonLink>
        <Button variant="outline">Create project</Button>
        <Button name="deploy" value="1">
          Create and deploy
        </Button>
      </>
    }
  >
    <RepositoryFields from={from} draft={draft} sources={sources} />
    {from !== 'image' && <SchemaFields schema={placeForm} names={['contextDir', 'watchPaths']} />}
    <TextField
      name="name"
      label="Name"
      hint={`Leave empty to use the name of the ${from === 'image' ? 'image' : 'directory, or of the repository'}.`}
      namedBy="repository_url repository image context_dir"
      autocomplete="off"
    />
    {from !== 'image' && <SchemaFields schema={placeForm} names={['composeFile']} />}
    <section class="note">
      <h2>What happens next</h2>
      <ol>
        <li>
          The project gets an environment called <code>production</code>, with its own address.
        </li>
        <li>
          {from === 'image'
            ? 'Each deployment pulls the image and starts it.'
            : 'Each deployment fetches the branch, builds it and starts the result.'}
        </li>
        <li>A deployment only counts as running when the app responds.</li>
      </ol>
    </section>
  </Form>
)
