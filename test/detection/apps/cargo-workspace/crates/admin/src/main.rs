compile_error!("The other app.");
