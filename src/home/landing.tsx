export const LandingPage = ({ mayRegister }: { mayRegister: boolean }) => (
  <div class="hero">
    <h1>From a git URL to a running app</h1>
    <p>
      Davit fetches your repository, builds it, starts it, and checks that it responds. On your own
      server, in one process.
    </p>
    <p class="actions">
      <a class="btn" data-size="lg" href="/login">
        Log in
      </a>
      {mayRegister && (
        <a class="btn" data-variant="outline" data-size="lg" href="/auth/register">
          Register
        </a>
      )}
    </p>
    <ol class="hero-steps" aria-label="How it works">
      <li>
        <strong>Clone</strong> the exact commit
      </li>
      <li>
        <strong>Build</strong> its Dockerfile, live in your browser
      </li>
      <li>
        <strong>Deploy</strong> it, and roll back with one press
      </li>
    </ol>
  </div>
)
