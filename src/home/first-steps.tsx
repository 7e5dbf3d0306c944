import type { Child } from 'hono/jsx'
import { sampleUrl } from '../git/sample.ts'
import { HelpLink } from '../web/components.tsx'
import { Button, ButtonLink, PostForm } from '../web/form.tsx'
import { Icon } from '../web/icons.tsx'
import type { IconName } from '../web/icons.tsx'

/** The ways to a first app, shown until there is one. */
export const FirstSteps = () => (
  <section class="first-steps" aria-labelledby="first-heading">
    <h2 id="first-heading">
      Deploy your first app <HelpLink doc="first-app" />
    </h2>
    <ul class="cards">
      <Step icon="rocket" title="Try the sample app">
        <p>A small page that comes with Davit. You see a deployment from its start to its end.</p>
        <PostForm action="/projects">
          <input type="hidden" name="name" value="Hello" />
          <input type="hidden" name="repository_url" value={sampleUrl} />
          <Button name="deploy" value="1">
            Deploy sample app
          </Button>
        </PostForm>
      </Step>
      <Step icon="folder-git-2" title="From a repository">
        <p>Any git repository, with or without a Dockerfile.</p>
        <PostForm action="/projects">
          <label class="visually-hidden" for="first-repository">
            Address of the repository
          </label>
          <input
            id="first-repository"
            class="input code"
            name="repository_url"
            placeholder="github.com/owner/repository"
            required
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
          />
          <Button variant="outline" name="deploy" value="1">
            Deploy repository
          </Button>
        </PostForm>
      </Step>
      <Step icon="git-branch" title="From your git provider">
        <p>Pick a repository from GitHub, GitLab, Gitea or Forgejo, private ones too.</p>
        <ButtonLink variant="outline" href="/settings/git">
          Connect git provider
        </ButtonLink>
      </Step>
      <Step icon="database" title="A database or service">
        <p>PostgreSQL, Redis and whole applications, ready to start.</p>
        <ButtonLink variant="outline" href="/services">
          Open catalogue
        </ButtonLink>
      </Step>
      <Step icon="file-up" title="From a Compose file">
        <p>Paste the file of an application that you run elsewhere.</p>
        <ButtonLink variant="outline" href="/services/compose/configure">
          Use a Compose file
        </ButtonLink>
      </Step>
    </ul>
  </section>
)

const Step = ({ icon, title, children }: { icon: IconName; title: string; children: Child }) => (
  <li class="card first-step">
    <h3>
      <Icon name={icon} />
      {title}
    </h3>
    {children}
  </li>
)
