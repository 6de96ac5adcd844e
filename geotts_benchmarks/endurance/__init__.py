"""What `geotts bench soak` is made of: services in processes of their own, mixed traffic, samples, growth."""
