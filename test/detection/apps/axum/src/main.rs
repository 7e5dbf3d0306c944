use axum::{routing::get, Router};
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::signal::unix::{signal, SignalKind};

async fn serve() -> std::io::Result<()> {
    let port = std::env::var("PORT").expect("PORT");
    let listener = TcpListener::bind(format!("0.0.0.0:{port}")).await?;
    let app = Router::new().route("/", get(|| async { "Hello, world" }));
    let mut end = signal(SignalKind::terminate())?;
    let ended = async move {
        end.recv().await;
    };
    axum::serve(listener, app).with_graceful_shutdown(ended).await
}

fn main() -> std::io::Result<()> {
    Builder::new_current_thread().enable_all().build()?.block_on(serve())
}
